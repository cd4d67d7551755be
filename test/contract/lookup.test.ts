// The contract of a lookup, held against each layer alone and against all of them together.
import { keyOf } from '../../src/domain/indicator.js'
import { createAdmission } from '../../src/lookup/admission/admission.js'
import { admit } from '../../src/lookup/admit.js'
import { coalesce } from '../../src/lookup/coalesce.js'
import { createCooldown } from '../../src/lookup/memory/cooldown.js'
import { createMemory } from '../../src/lookup/memory/memory.js'
import { indicators } from '../../src/lookup/question.js'
import { recall } from '../../src/lookup/recall.js'
import { remember } from '../../src/lookup/remember.js'
import { retry } from '../../src/lookup/retry.js'
import { stack } from '../../src/lookup/stack.js'
import { admissionSettings, classify, cooldownSettings, memorySettings, retrySettings } from '../support/lookup.js'
import { createStack, direct } from '../support/stacks.js'
import { describeLookup } from './lookup-contract.js'

const newMemory = () => createMemory(memorySettings, keyOf, classify)

describeLookup('recall', (source, clock) =>
  stack(recall(indicators, newMemory(), createCooldown(cooldownSettings, clock.now), clock.now))(direct(source)),
)
describeLookup('coalesce', (source) => stack(coalesce(keyOf))(direct(source)))
describeLookup('remember', (source, clock) =>
  stack(remember(keyOf, newMemory(), createCooldown(cooldownSettings, clock.now)))(direct(source)),
)
describeLookup('remember with a disk', (source, clock) =>
  stack(remember(keyOf, newMemory(), createCooldown(cooldownSettings, clock.now), () => Promise.resolve()))(
    direct(source),
  ),
)
describeLookup('retry', (source, clock) =>
  stack((inner) => inner)(direct(retry(retrySettings, clock, () => 1)(source))),
)
describeLookup('admit', (source, clock) => stack(admit(keyOf, createAdmission(admissionSettings, clock)))(source))
describeLookup('the whole stack', (source, clock) => createStack(source, clock).lookup)
