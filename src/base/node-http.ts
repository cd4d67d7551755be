// Node's http, without what an import of it loads: for that every export is read, and one of them loads all of fetch, 14 MB of memory.
export const http = process.getBuiltinModule('node:http')
