import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitArray, startsArray } from '../../../src/input/split-array.js'

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size)
    await Promise.resolve()
  }
}
const split = async (text: string, size = 7): Promise<string[]> => {
  const found: string[] = []
  for await (const lines of splitArray(inPieces(text, size), 'f'))
    for (const { bytes } of lines) found.push(bytes.toString())
  return found
}

describe('splitArray', () => {
  it.each([
    ['[{"a":1},{"b":[1,2,{"c":"],}"}]}]', ['{"a":1}', '{"b":[1,2,{"c":"],}"}]}']],
    ['[\n  {"a": "x\\"y,["},\n  {"b": 2}\n]\n', ['{"a": "x\\"y,["}', '{"b": 2}']],
    ['[ { } , 7 , "t" ]', ['{ }', '7', '"t"']],
    ['[{"a":1},{"b":', ['{"a":1}', '{"b":']],
    ['[{"a":1}] trailing', ['{"a":1}', 'trailing']],
    ['[]', []],
  ])('splits %j', async (text, elements) => {
    expect(await split(text)).toEqual(elements)
  })

  it('gives back the bytes of every element on one line, wherever the input is cut in pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        async (values, size) => {
          const texts = values.map((value) => JSON.stringify(value, null, 1))
          expect(await split(`[${texts.join(',\n')}]`, size)).toEqual(texts.map((text) => text.replaceAll('\n', ' ')))
        },
      ),
    )
  })
})

describe('startsArray', () => {
  it.each([
    ['[{"a":1}]', true],
    ['\ufeff [\n {', true],
    ['[INFO] 10.0.0.1', false],
    ['[1,2]', false],
    ['{"a":[{', false],
  ])('of %j is %s', (text, answer) => {
    expect(startsArray(Buffer.from(text))).toBe(answer)
  })
})
