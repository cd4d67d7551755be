// Kafka settings including the login. All connections made from one result share one token.
import type { Config } from '../config/schema.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { openLogin, type LoginSurroundings } from '../login/open-login.js'
import { kafkaSettingsOf } from './limits.js'

export const connectedSettingsOf = (config: Config, surroundings: LoginSurroundings): KafkaSettings => ({
  ...kafkaSettingsOf(config),
  login: openLogin(config.kafka, surroundings),
})
