declare const BERTH_VERSION: string | undefined;

/** The build writes the package's version in; run from source it is `dev`. */
export const version: string = typeof BERTH_VERSION === 'string' ? BERTH_VERSION : 'dev';
