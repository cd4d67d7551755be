import { describe, expect, it } from 'vitest'
import { createProgress, duration } from '../../../src/terminal/progress.js'

const stream = (isTTY: boolean): { written: string[]; stream: Parameters<typeof createProgress>[0] } => {
  const written: string[] = []
  return { written, stream: { isTTY, columns: 80, write: (text: string) => written.push(text) > 0 } as never }
}

describe('createProgress', () => {
  it('redraws one line on a terminal and clears it at the end', () => {
    let now = 0
    const { written, stream: stderr } = stream(true)
    const progress = createProgress(stderr, { label: 'pipe', total: 200, clock: () => now })
    now = 1000
    progress.update(50, '50 events')
    progress.update(51, 'too soon to draw again')
    progress.end()
    expect(written).toEqual(['\r\u001b[2Kpipe [######------------------] 25% 50 events 3s left', '\r\u001b[2K'])
  })

  it('gives the line to other output and comes back with the next update', () => {
    let now = 0
    const { written, stream: stderr } = stream(true)
    const progress = createProgress(stderr, { label: 'pipe', clock: () => now })
    progress.clear()
    progress.update(1, 'one')
    progress.clear()
    progress.clear()
    now = 1000
    progress.update(2, 'two')
    expect(written).toEqual(['\r\u001b[2Kpipe one', '\r\u001b[2K', '\r\u001b[2Kpipe two'])
  })

  it('keeps the whole line on a terminal that does not say how wide it is', () => {
    const { written, stream: stderr } = stream(true)
    createProgress(Object.assign(stderr, { columns: 0 }), { label: 'pipe' }).update(1, '5 s')
    expect(written).toEqual(['\r\u001b[2Kpipe 5 s'])
  })

  it('says a plain line every ten seconds elsewhere', () => {
    let now = 0
    const { written, stream: stderr } = stream(false)
    const progress = createProgress(stderr, { label: 'pipe', clock: () => now })
    for (now = 0; now <= 20_000; now += 1000) progress.update(now, `${now} events`)
    progress.end()
    expect(written).toEqual(['pipe 10000 events\n', 'pipe 20000 events\n'])
  })
})

describe('duration', () => {
  it.each([
    [900, '1s'],
    [61_000, '1m1s'],
    [7_260_000, '2h1m'],
  ])('says %i ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})
