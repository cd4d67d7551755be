// Settings of the `notify` command.
import { Type } from '@sinclair/typebox'
import { settingsAt } from '../../config/added-settings.js'

export const notifySettings = settingsAt(
  'notify',
  Type.Object(
    {
      sinks: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        default: [],
        description: 'Sink files, or folders of them: the destinations of `threatweave notify`.',
      }),
      silences: Type.String({
        default: '',
        description: 'The file of silences; it is reloaded when it changes. Empty: no silences.',
      }),
      maxAgeHours: Type.Number({
        default: 24,
        exclusiveMinimum: 0,
        maximum: 8_760,
        description:
          'Alerts older than this are counted but not sent to people, so that an outage does not end in a flood. Sinks that store alerts get all of them.',
      }),
      deadLetterTopic: Type.String({
        default: '',
        maxLength: 249,
        pattern: '^[A-Za-z0-9._-]*$',
        description:
          'The dead letter topic for alerts that a sink rejects permanently; empty: kafka.alertsTopic with the suffix -undelivered. Created if it does not exist.',
      }),
      opsPort: Type.Integer({
        default: 9462,
        minimum: 0,
        maximum: 65_535,
        description: 'The port for health and metrics of `notify`; the other ops settings apply. 0 picks a free one.',
      }),
    },
    {
      additionalProperties: false,
      default: {},
      description: 'Alerts for people and other systems: `threatweave notify`.',
    },
  ),
)
