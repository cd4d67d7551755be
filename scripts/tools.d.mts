// Types of tools.mjs for the tests.
export type Ran = { readonly ok: boolean; readonly stdout: string; readonly output: string }
export const run: (command: string, args: readonly string[], options?: object) => Ran
export const provisionTools: () => {
  readonly paths?: {
    readonly helm: string
    readonly kubernetesValidate: string
    readonly hadolint: string
    readonly python: string
  }
  readonly missing?: string
}
export const provisionSerializers: () => { readonly python?: string; readonly missing?: string }
export const provisionMedallion: () => { readonly medallion?: string; readonly missing?: string }
export const provisionOtlp: () => { readonly python?: string; readonly missing?: string }
export const provisionWorkflowLinters: () => {
  readonly zizmor?: string
  readonly actionlint?: string
  readonly missing?: string
}
