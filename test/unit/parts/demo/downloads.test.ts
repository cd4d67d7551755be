// Progress of Maven's downloads.
import { describe, expect, it } from 'vitest'
import { countDownloads } from '../../../../src/parts/demo/downloads.js'

const printed = `[INFO] Scanning for projects...
[INFO] Downloading from central: https://repo.example.com/maven2/org/example/one/1/one-1.pom
[INFO] Downloaded from central: https://repo.example.com/maven2/org/example/one/1/one-1.pom (873 B at 12 kB/s)
[INFO] Downloading from central: https://repo.example.com/maven2/org/example/two/2/two-2.jar
[INFO] Downloading from central: https://repo.example.com/maven2/org/example/three/3/three-3.jar
[INFO] Downloaded from central: https://repo.example.com/maven2/org/example/three/3/three-3.jar (575 kB at 205 kB/s)
[INFO] Downloaded from central: https://repo.example.com/maven2/org/example/two/2/two-2.jar (6.8 MB at 12 MB/s)
[INFO] Copying two-2.jar to /somewhere/two-2.jar
`

describe('downloads', () => {
  it('grow with every file that has come, and not with one that is on its way', () => {
    const downloads = countDownloads()
    const seen: number[] = []
    for (const line of printed.split('\n')) {
      downloads.read(`${line}\n`)
      seen.push(downloads.files())
    }
    expect(seen).toEqual([0, 0, 1, 1, 1, 2, 3, 3, 3])
    expect(downloads.megabytes()).toBeCloseTo(7.375873, 6)
  })

  it('are the same wherever the output is cut', () => {
    for (const size of [1, 7, 64, 1000]) {
      const downloads = countDownloads()
      for (let from = 0; from < printed.length; from += size) downloads.read(printed.slice(from, from + size))
      expect(downloads.files()).toBe(3)
      expect(downloads.megabytes()).toBeCloseTo(7.375873, 6)
    }
  })
})
