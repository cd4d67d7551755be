// Counts Maven's downloads from its output.
type Downloads = {
  /** Accepts output in chunks of any size. */
  readonly read: (output: string) => void
  readonly files: () => number
  readonly megabytes: () => number
}

const units: Readonly<Record<string, number>> = { B: 1e-6, kB: 1e-3, MB: 1, GB: 1e3 }

/** The end of a line such as `[INFO] Downloaded from central: https://…/zstd-jni-1.5.6.jar (6.8 MB at 12 MB/s)`. */
const downloaded = /^(?:\[INFO\] )?Downloaded from .* \((\d[\d.]*) ([kMG]?B) at /

export const countDownloads = (): Downloads => {
  let rest = ''
  let files = 0
  let megabytes = 0
  return {
    read: (output) => {
      const lines = (rest + output).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, size, unit] = downloaded.exec(line) ?? []
        if (unit === undefined) continue
        files++
        megabytes += Number(size) * (units[unit] ?? 0)
      }
    },
    files: () => files,
    megabytes: () => megabytes,
  }
}
