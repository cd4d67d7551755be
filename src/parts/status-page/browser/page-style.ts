// The style sheet of the page, joined from its parts.
import { alertStyle } from './alert-style.js'
import { chartStyle } from './chart-style.js'
import { colours } from './colours.js'
import { frameStyle } from './frame-style.js'
import { healthStyle } from './health-style.js'

export const pageStyle = [colours, frameStyle, alertStyle, chartStyle, healthStyle].join('')
