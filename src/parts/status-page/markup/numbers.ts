// Formats numbers and times for the status page.

const short = (value: number, digits: number): string =>
  value >= 1e9
    ? `${(value / 1e9).toFixed(1)} G`
    : value >= 1e6
      ? `${(value / 1e6).toFixed(1)} M`
      : value >= 1e5
        ? `${(value / 1e3).toFixed(0)} k`
        : value >= 1e4
          ? `${(value / 1e3).toFixed(1)} k`
          : value.toFixed(digits)

export const formatCount = (value: number): string => short(Math.max(0, value), 0)

export const formatRate = (value: number): string => short(Math.max(0, value), value > 0 && value < 10 ? 1 : 0)

export const formatPercent = (ratio: number | undefined): string =>
  ratio === undefined ? '–' : `${(100 * ratio).toFixed(ratio > 0.99 && ratio < 1 ? 1 : 0)} %`

export const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

/** Formats a latency. */
export const formatLatency = (seconds: number | undefined): string => {
  if (seconds === undefined) return '–'
  if (seconds === Infinity) return 'more than measured'
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
}

export const formatMoment = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Only the time if the day is today. */
export const formatWhen = (at: number, now: number): string => {
  if (Math.abs(at) > 8.64e15) return 'unknown'
  const [day = '', time = ''] = new Date(at).toISOString().split('T')
  return day === new Date(now).toISOString().slice(0, 10) ? time.slice(0, 8) : `${day} ${time.slice(0, 5)}`
}

export const formatTime = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`
