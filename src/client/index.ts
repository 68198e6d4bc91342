export {resolvePaths} from "./paths.js";
