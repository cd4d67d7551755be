import { describe, expect, it } from 'vitest'
import { openParts, withScope, type Scope } from '../../../src/base/scope.js'

const part = (name: string, log: string[]) => ({ close: () => void log.push(name) })

const failing = (): never => {
  throw new Error('the port is in use')
}

describe('a scope', () => {
  it('closes what was opened in reverse order', async () => {
    const log: string[] = []
    const opened = await openParts((scope) => {
      scope.use(part('feeds', log))
      scope.defer(() => void log.push('calls end'))
      scope.use(undefined)
      return Promise.resolve({ memory: scope.use(part('memory', log)) })
    })
    expect(log).toEqual([])
    await opened.close()
    expect(log).toEqual(['memory', 'calls end', 'feeds'])
  })

  it('closes what was opened before the part that fails to open, and throws that failure', async () => {
    const log: string[] = []
    const open = (scope: Scope): Promise<object> => {
      scope.use(part('feeds', log))
      scope.use(part('memory', log))
      return Promise.resolve(failing())
    }
    await expect(openParts(open)).rejects.toThrow('the port is in use')
    await expect(withScope(open)).rejects.toThrow('the port is in use')
    expect(log).toEqual(['memory', 'feeds', 'memory', 'feeds'])
  })

  it('waits for each closing before the next', async () => {
    const log: string[] = []
    await withScope((scope) => {
      scope.use(part('memory', log))
      scope.defer(async () => {
        await Promise.resolve()
        log.push('client')
      })
      return Promise.resolve()
    })
    expect(log).toEqual(['client', 'memory'])
  })

  it('closes the others when one closing fails, and throws what failed first', async () => {
    const log: string[] = []
    const opened = await openParts((scope) => {
      scope.use(part('feeds', log))
      scope.defer(() => failing())
      scope.use(part('memory', log))
      return Promise.resolve({})
    })
    await expect(opened.close()).rejects.toThrow('the port is in use')
    expect(log).toEqual(['memory', 'feeds'])
  })

  it('closes once, however often it is closed', async () => {
    const log: string[] = []
    const opened = await openParts((scope) => Promise.resolve({ feeds: scope.use(part('feeds', log)) }))
    await Promise.all([opened.close(), opened.close()])
    expect(log).toEqual(['feeds'])
  })
})
