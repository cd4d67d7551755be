import { describe, expect, it } from 'vitest'
import { renderTable } from '../../../src/terminal/table.js'

describe('renderTable', () => {
  it('aligns columns and clips what is too long', () => {
    expect(
      renderTable(
        [
          { title: 'value', max: 8 },
          { title: 'events', align: 'right' },
        ],
        [
          ['198.51.100.60', '7'],
          ['a', '12'],
        ],
      ),
    ).toBe('value     events\n--------  ------\n198.51.…       7\na             12\n')
  })

  it('lets no escape sequence through', () => {
    expect(renderTable([{ title: 'value' }], [['\u001b[2Jgone\u0007']])).toBe(
      'value\n--------\n?[2Jgone?\n'.replace('--------', '---------'),
    )
  })
})
