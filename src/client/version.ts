declare const BERTH_VERSION: string | undefined;

/** The version of the package, which the build defines; `dev` when run from source. */
export const version: string = typeof BERTH_VERSION === 'string' ? BERTH_VERSION : 'dev';
