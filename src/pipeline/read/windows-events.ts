// The numbers by which Windows tells of logins and of connections that it let through or stopped.
import type { Action } from '../../domain/sighting.js'
import { words } from './words.js'

export const windowsEvents: ReadonlyMap<string, Action> = new Map<string, Action>([
  ...words('4624 4648 4778 5154 5156 5158 6272').map((id): [string, Action] => [id, 'allowed']),
  ...words('4625 4771 5150 5151 5152 5153 5155 5157 5159 6273').map((id): [string, Action] => [id, 'blocked']),
])
