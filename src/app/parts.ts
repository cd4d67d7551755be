// The parts of the program. To remove one, delete its folder and its two lines here; `npm run test:parts` checks the rest.
import { binaryTopics } from '../parts/binary-topics/part.js'
import { demo } from '../parts/demo/part.js'
import { notify } from '../parts/notify/part.js'
import { places } from '../parts/places/part.js'
import { statusPage } from '../parts/status-page/part.js'
import type { Part } from './part.js'

export const parts: readonly Part[] = [binaryTopics, demo, notify, places, statusPage]
