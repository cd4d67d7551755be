// Derives the environment variable of a setting: `intel.service.apiKey` is THREATWEAVE_INTEL_SERVICE_API_KEY; other characters than letters and digits become _.
export const prefix = 'THREATWEAVE_'

/** Set for each worker of `run --workers`: the time limit for stopping after its parent is gone. Not a setting. */
export const workerVariable = 'THREATWEAVE_WORKER_LIMIT_MS'

/** The number of a worker of `run --workers`, from 1. Not a setting. */
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
