// Reads answers with the bundled profile.
import { bundledProfile } from '../../src/app/open-profile.js'
import { createAnswerReader } from '../../src/provider/answer-reader.js'

export const ownReader = createAnswerReader(bundledProfile())
