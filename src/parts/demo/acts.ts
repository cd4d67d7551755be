// The three acts of the demo, all with real events: an alert, a late verdict and a list change.
import { appendFileSync } from 'node:fs'
import { renderAlert } from '../../alerts/render-alert.js'
import type { SlowLink } from './slow-link.js'
import { printable } from '../../domain/control-characters.js'
import type { Io } from '../../terminal/command.js'
import type { AlertRecord, Arrived, Watched } from './watch-topics.js'

export type Stage = {
  readonly io: Io
  readonly watched: Watched
  /** Sends in order. A line's number is its key, so repeats of a line go to the same partition. */
  readonly send: (lines: readonly string[]) => Promise<unknown>
  /** Rejects when the user stops the demo, when `run` exits, or after five minutes. */
  readonly until: <Found>(what: string, find: () => Found | undefined) => Promise<Found>
  /** Seconds since the broker was ready. */
  readonly seconds: (at: number) => string
}

/** The delay of lookup answers in the second act. */
const slowMs = 1_500

/** The sample log has a connection from this internal peer to this command and control server. */
export const called = { value: '203.0.113.99', peer: '10.0.0.31' } as const

export const showFirstAlert = async (
  { io, watched, send, until, seconds }: Stage,
  lines: readonly string[],
): Promise<void> => {
  await send(lines)
  const alert = await until('the first alert', () => find(watched.alerts, called))
  io.stdout.write(heading(io, '1', `An alert, ${seconds(alert.at)} after the broker was up`))
  io.stdout.write(shown(alert.value, io))
}

/** The first act without a broker. */
export const showRaised = (alerts: readonly AlertRecord[], io: Io): void => {
  const alert = alerts.find(isAbout(called))
  if (!alert) return
  io.stdout.write(heading(io, '1', `An alert, one of ${alerts.length}`))
  io.stdout.write(shown(alert, io))
}

/** Not in the sample log, so no verdict is cached. The sample intelligence lists it as command and control. */
const late = { value: '198.51.100.61', peer: '10.0.0.23' } as const
const lateLine = `date=2026-11-15 time=08:01:00 devname="edge-fw-1" devid="FG100E0000000001" logid="0000000013" type="traffic" subtype="forward" level="notice" vd="root" srcip=${late.peer} srcport=50161 srcintf="lan" srcintfrole="lan" dstip=${late.value} dstport=443 dstintf="wan1" dstintfrole="wan" proto=6 action="accept" policyid=12 service="HTTPS" sentbyte=2100 rcvdbyte=6023`

export const showLateVerdict = async ({ io, watched, send, until, seconds }: Stage, link: SlowLink): Promise<void> => {
  link.delay(slowMs)
  const sentAt = Date.now()
  await send([lateLine])
  const event = await until('an event', () => watched.events.find(({ value }) => value.message === lateLine))
  const alert = await until('the late alert', () => find(watched.alerts, late))
  const { enrichment_id: id } = event.value.threatweave
  const correction = await until('the correction', () =>
    watched.corrections.find(({ value }) => value.threatweave.enrichment_id === id),
  )
  link.delay(0)
  const after = ({ at }: Arrived<unknown>): string => `+${((at - sentAt) / 1000).toFixed(1)} s`
  io.stdout.write(heading(io, '2', `A verdict that comes late, ${seconds(alert.at)} after the broker was up`))
  io.stdout.write(
    `The lookup server now needs ${slowMs / 1000} s for an answer, and ${late.peer} calls an address that is new here.\n\n` +
      `  ${after(event)}  event       ${event.value.threatweave.summary}; it does not wait any longer\n` +
      `  ${after(alert)}  late alert  below\n` +
      `  ${after(correction)}  correction  the same event and id: ${correction.value.threatweave.verdict}\n\n`,
  )
  io.stdout.write(shown(alert.value, io))
}

/** An internal machine connects to it in the sample log, when no list has it. */
const gained = { value: '198.51.100.77' } as const

/** The initial list. Its only entry does not occur in the sample log. */
export const listBefore = 'value,category\n198.51.100.250,c2\n'

export const showRetroAlert = async ({ io, watched, until, seconds }: Stage, list: string): Promise<void> => {
  const changedAt = Date.now()
  appendFileSync(list, `${gained.value},c2\n`)
  const alert = await until('the retro alert', () => find(watched.alerts, gained))
  const took = ((alert.at - changedAt) / 1000).toFixed(1)
  io.stdout.write(heading(io, '3', `A list changes: a retro alert, ${seconds(alert.at)} after the broker was up`))
  io.stdout.write(`A list gained ${gained.value} ${took} s ago; nothing was known about it when it was called.\n\n`)
  io.stdout.write(shown(alert.value, io))
}

/** Shows the chat message that `threatweave notify` sent for the same alert. */
export const showInChat = async (
  { io, until }: Stage,
  { messages }: { readonly messages: readonly { readonly at: number; readonly text: string }[] },
): Promise<void> => {
  const { text } = await until('a message in the chat', () => messages.find((one) => one.text.includes(gained.value)))
  const [first = ''] = text.split('\n')
  io.stdout.write(`In a chat, sent by threatweave notify:\n  ${printable(first)}\n\n`)
}

type About = { readonly value: string; readonly peer?: string }

const isAbout =
  ({ value, peer }: About) =>
  ({ threatweave }: AlertRecord): boolean =>
    threatweave.kind !== 'update' && threatweave.value === value && (peer === undefined || threatweave.peer === peer)

const find = (alerts: Watched['alerts'], about: About): Arrived<AlertRecord> | undefined =>
  alerts.find(({ value }) => isAbout(about)(value))

const isColoured = (io: Io): boolean => io.stdout.isTTY === true && (io.env.NO_COLOR ?? '') === ''

const heading = (io: Io, number: string, text: string): string =>
  isColoured(io) ? `\u001b[1m${number}  ${text}\u001b[0m\n\n` : `${number}  ${text}\n\n`

const shown = (alert: AlertRecord, io: Io): string =>
  renderAlert(alert, { columns: io.stdout.columns ?? 100, isColoured: isColoured(io) })
