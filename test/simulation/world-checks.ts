// Checks the world itself: `node --import ./test/simulation/typescript.mjs test/simulation/world-checks.ts` prints failures.
import { randomBytes, randomUUID } from 'node:crypto'
import { createWorld, installGlobals, type World, type WorldOptions } from './world.js'

installGlobals()
const { setTimeout: sleep } = await import('node:timers/promises')
const problems: string[] = []

const inWorld = async (
  options: WorldOptions,
  set: (world: World, say: (text: string) => void) => void,
): Promise<readonly string[]> => {
  const said: string[] = []
  const world = createWorld(7, options)
  try {
    set(world, (text) => said.push(`${world.ms} ${text}`))
    await world.run(10_000)
  } catch (error) {
    said.push(error instanceof Error ? error.message : String(error))
  } finally {
    world.close()
  }
  return said
}

const expect = (title: string, actual: unknown, wanted: unknown): void => {
  if (JSON.stringify(actual) !== JSON.stringify(wanted))
    problems.push(`${title}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`)
}

for (const drain of ['tick', 'immediate'] as const) {
  expect(
    'timers, microtasks and immediates keep the order that Node gives them',
    await inWorld({ drain }, (world, say) => {
      world.start('a', async () => {
        setTimeout(() => say('timer'), 5)
        setImmediate(() => say('immediate'))
        queueMicrotask(() => say('microtask'))
        process.nextTick(() => say('tick'))
        await sleep(5)
        say('slept')
        await new Promise((resolve) => AbortSignal.timeout(5).addEventListener('abort', resolve))
        say(`aborted after ${Date.now() % 1000} and ${performance.now()}`)
      })
    }),
    ['0 tick', '0 microtask', '0.001 immediate', '5 timer', '5 slept', '10 aborted after 10 and 10'],
  )
  expect(
    'nothing of a killed process happens, and what was started anew has another label',
    await inWorld({ drain }, (world, say) => {
      const main = async (): Promise<void> => {
        for (;;) {
          await sleep(100)
          say(world.current.label)
        }
      }
      const first = world.start('a', main)
      first.onExit(({ how }) => say(how))
      world.after(250, () => first.kill())
      world.after(300, () => world.start('a', main))
      world.after(450, () => world.stop())
    }),
    ['100 a', '200 a', '250 killed', '400 a.2'],
  )
  expect(
    'the time of a paused process jumps, and its timers come before what arrived',
    await inWorld({ drain }, (world, say) => {
      const paused = world.start('a', async () => {
        await sleep(100)
        say('first')
        await sleep(100)
        say('second')
      })
      world.after(50, () => paused.pause())
      world.after(60, () => paused.post(() => say('signal')))
      world.after(500, () => paused.resume())
    }),
    ['500 first', '500 signal', '600 second'],
  )
  expect(
    'how a process ends is known',
    await inWorld({ drain }, (world, say) => {
      const tell = (name: string, main: () => Promise<unknown>): void =>
        world.start(name, main).onExit((exit) => say(`${name} ${exit.how}`))
      tell('a', () => Promise.resolve(1))
      tell('b', () => Promise.reject(new Error('b')))
      tell('c', async () => {
        await sleep(1)
        setTimeout(() => {
          throw new Error('c')
        }, 1)
        await sleep(100)
      })
      tell('d', async () => {
        await sleep(3)
        void Promise.reject(new Error('d'))
        await sleep(100)
      })
    }).then((said) => [...said].sort()),
    ['0 a returned', '0 b failed', '2 c crashed', '3 d crashed'],
  )
}

const draws = (seed: number): Promise<readonly string[]> =>
  inWorld({}, (world, say) => {
    for (const name of ['a', 'b'])
      world.start(`${name}${seed}`, () => {
        const values = new Uint32Array(1)
        globalThis.crypto.getRandomValues(values)
        say(`${Math.random()} ${randomBytes(4).toString('hex')} ${randomUUID()} ${values[0] ?? 0}`)
        return Promise.resolve()
      })
  })
const [one, again, other] = [await draws(1), await draws(1), await draws(2)]
expect('randomness is that of the seed and the process', one, again)
expect('and no two processes have the same', new Set([...one, ...other].map((line) => line.slice(2))).size, 4)

expect(
  'a promise that two processes share is found',
  await inWorld({ debug: true }, (world) => {
    let open = (): void => undefined
    const shared = new Promise<void>((resolve) => (open = resolve))
    world.start('a', async () => {
      await shared
      await sleep(1)
    })
    world.start('b', async () => {
      await sleep(10)
      open()
      await sleep(10)
    })
  }),
  ['a continues in an event of b'],
)

process.stdout.write(JSON.stringify(problems))
