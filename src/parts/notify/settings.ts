// Settings of the `notify` command.
import { Type } from '@sinclair/typebox'
import { settingsAt } from '../../config/added-settings.js'

export const notifySettings = settingsAt(
  'notify',
  Type.Object(
    {
      sinks: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        default: [],
        description: 'Files of sinks, or folders of them: where `threatweave notify` sends alerts.',
      }),
      silences: Type.String({
        default: '',
        description: 'The file of silences; it is read again when it changes. Empty: nothing is silenced.',
      }),
      maxAgeHours: Type.Number({
        default: 24,
        exclusiveMinimum: 0,
        maximum: 8_760,
        description:
          'Older alerts are not sent to people, only counted, so that an outage does not end in a storm. Sinks that store alerts get them all.',
      }),
      deadLetterTopic: Type.String({
        default: '',
        maxLength: 249,
        pattern: '^[A-Za-z0-9._-]*$',
        description:
          'Where alerts go that a sink refuses for good; empty: kafka.alertsTopic with -undelivered. Created if it does not exist.',
      }),
      opsPort: Type.Integer({
        default: 9462,
        minimum: 0,
        maximum: 65_535,
        description:
          'The port of health and metrics while `notify` runs, on ops.host and by the other settings of ops; 0 takes any free one.',
      }),
    },
    {
      additionalProperties: false,
      default: {},
      description: 'Alerts for people and other systems: `threatweave notify`.',
    },
  ),
)
