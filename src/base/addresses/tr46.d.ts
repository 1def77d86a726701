declare module 'tr46' {
  interface ToAsciiOptions {
    readonly checkHyphens?: boolean;
    readonly checkBidi?: boolean;
    readonly checkJoiners?: boolean;
    readonly useSTD3ASCIIRules?: boolean;
    readonly verifyDNSLength?: boolean;
    readonly transitionalProcessing?: boolean;
    readonly ignoreInvalidPunycode?: boolean;
  }
  /** UTS 46 ToASCII; `null` when the name is invalid. */
  export function toASCII(domain: string, options?: ToAsciiOptions): string | null;
}
