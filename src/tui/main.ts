/** The entry of the terminal frontend's bundle, which is loaded when it is opened. */
export { openTui, type TuiEnd, type TuiOptions } from './app/app.js';
