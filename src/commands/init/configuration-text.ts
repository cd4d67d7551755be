// The configuration that `init` writes: the relevant settings, each with a reason.
import { outputTopicOf, type Answers, type OwnList, type Platform, type StarterList } from './answers.js'

/** `listPath`: the path of the user's list at run time, if it is a file. */
export const configurationText = (answers: Answers, listPath?: string): string => {
  const { brokers, topic, keyFile, service, list, starter, platform } = answers
  const feeds = [...(list ? [ownFeed(list, platform, listPath)] : []), ...starter.map(starterFeed)]
  return `# Written by \`threatweave init\`. All settings: docs/configuration.md. After a change: threatweave check --config FILE
kafka:
  # Where to start from. For TLS and a login see kafka.tls and kafka.sasl; a password stands in a file that a variable names.
  brokers: ${listOf(brokers)}
  # All workers of this service share it; another service on these brokers needs another group.
  groupId: ${quoted(`threatweave-${topic}`)}
  input:
    # The log events. This topic is yours to create.
    topics: ${listOf([topic])}
    # A new group begins with the next event; earliest: with the oldest one.
    start: latest
  output:
    # The same events, annotated. Alerts and the rest go to topics named after it: ${outputTopicOf(topic)}-alerts and so on.
    topic: ${quoted(outputTopicOf(topic))}
gate:
  # Your public addresses and ranges: they are never asked about and count as inside. \`threatweave estimate LOG\` suggests some.
  ownRanges: []
${keyFile === undefined ? '' : lookupSettings(service)}${feeds.length === 0 ? '' : `feeds:\n${feeds.join('')}`}`
}

const lookupSettings = (service: string | undefined): string => `${
  service === undefined
    ? ''
    : `intel:
  service:
    # Who is asked. The key is not in this file: the variable THREATWEAVE_INTEL_SERVICE_API_KEY_FILE names the file that holds it.
    baseUrl: ${quoted(service)}
`
}admit:
  # Calls a day at most, restarts included. Set it to what your account allows, or to unlimited.
  perDay: 1000
`

const ownFeed = (
  list: OwnList,
  platform: Platform,
  listPath: string | undefined,
): string => `  # Your own list; ${'url' in list ? 'it is refreshed every 60 minutes (refreshMinutes).' : changeOf[platform]}
  - name: ${quoted(list.name)}
    ${'url' in list ? `url: ${quoted(list.url)}` : `path: ${quoted(listPath ?? list.path)}`}
`

const changeOf: Readonly<Record<Platform, string>> = {
  systemd: 'a change takes effect within seconds.',
  compose: 'a change takes effect within seconds. compose.yaml mounts its folder, so the file may be replaced.',
  kubernetes: 'a change takes effect when Kubernetes has updated the ConfigMap in the pods, after about a minute.',
}

const starterFeed = ({ about, licence, terms, feed }: StarterList): string => `  # ${about}
  # Licence: ${licence} (${terms})
  - name: ${quoted(feed.name)}
${Object.entries(feed)
  .filter(([name]) => name !== 'name' && !isUsual(name, feed[name as keyof typeof feed]))
  .map(([name, value]) => `    ${name}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}\n`)
  .join('')}`

const isUsual = (name: string, value: unknown): boolean =>
  (name === 'level' && value === 'malicious') || (Array.isArray(value) && value.length === 0)

const listOf = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`

/** JSON is YAML; plain words need no quotes. */
const quoted = (text: string): string =>
  /^[A-Za-z][A-Za-z0-9_.-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
