// The kind of activity in an event: rules treat a login, a server's access log and a connection differently.

export const activities = ['connection', 'request', 'login', 'query', 'mail', 'other'] as const
export type Activity = (typeof activities)[number]
