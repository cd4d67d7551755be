// The name of a setting's environment variable, by one mechanical rule: `intel.service.apiKey` is THREATWEAVE_INTEL_SERVICE_API_KEY.
export const prefix = 'THREATWEAVE_'

export const environmentName = (path: readonly string[]): string =>
  prefix + path.map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()).join('_')
