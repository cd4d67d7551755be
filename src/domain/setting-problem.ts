// What is wrong with a setting, and where it was given.

export type SettingProblem = { readonly setting: string; readonly message: string; readonly where?: string }
