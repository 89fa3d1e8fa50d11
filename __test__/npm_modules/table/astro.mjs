// A compiler of Go.
import { transform } from "@astrojs/compiler";

export default () => () => transform("<p>{1}</p>");
