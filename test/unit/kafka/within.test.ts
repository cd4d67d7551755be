import { describe, expect, it } from 'vitest'
import { FatalKafkaError } from '../../../src/kafka/failure.js'
import { answeredWithin, within } from '../../../src/kafka/within.js'

const never = (): Promise<never> => new Promise(() => undefined)

describe('a limit on work', () => {
  it('passes on what the work comes to', async () => {
    expect(await within(1_000, 'this', () => Promise.resolve(7))).toBe(7)
    await expect(within(1_000, 'this', () => Promise.reject(new Error('broke')))).rejects.toThrow('broke')
  })

  it('ends work that hangs, and says what and after how long', async () => {
    await expect(within(20, 'firewall/0', never)).rejects.toThrow('firewall/0 was not finished within 20 ms')
  })

  it('ends the process only where the work is not tried again', async () => {
    await expect(within(20, 'firewall/0', never)).rejects.toBeInstanceOf(FatalKafkaError)
    const given = await answeredWithin(20, 'firewall/0', never).catch((error: unknown) => error)
    expect(given).not.toBeInstanceOf(FatalKafkaError)
    expect(given).toMatchObject({ message: 'firewall/0 was not finished within 20 ms' })
  })

  it('does not run out while its clock stands still, and runs out when that goes on', async () => {
    let time = 0
    let isOver = false
    const limited = within(20, 'firewall/0', never, () => time).catch((error: unknown) => {
      isOver = true
      return error
    })
    // Ten looks at a clock that stands still.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(isOver).toBe(false)
    time = 20
    expect(await limited).toMatchObject({ message: 'firewall/0 was not finished within 20 ms' })
  })
})
