// The name of a setting's environment variable, by one mechanical rule: `intel.service.apiKey` is THREATWEAVE_INTEL_SERVICE_API_KEY; what is neither letter nor digit becomes _.
export const prefix = 'THREATWEAVE_'

/** Set for each worker of `run --workers`: how long it may take to stop once its parent is gone. Not a setting. */
export const workerVariable = 'THREATWEAVE_WORKER_LIMIT_MS'

/** Which worker of `run --workers` it is, from 1. Not a setting. */
export const workerNumberVariable = 'THREATWEAVE_WORKER_NUMBER'

export const environmentName = (path: readonly string[]): string =>
  prefix +
  path
    .map((part) =>
      part
        .replace(/[A-Z]/g, (letter) => `_${letter}`)
        .replace(/[^A-Za-z0-9]/g, '_')
        .toUpperCase(),
    )
    .join('_')
