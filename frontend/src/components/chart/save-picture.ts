/** A chart as a picture that the browser saves: vectors, or pixels. */
import { pngOf } from "@/charts/export/png";
import { heightOf, svgOf, WIDTH, type Picture } from "@/charts/export/svg";
import { save } from "@/lib/files/download";
import { fileName } from "@/lib/files/file-name";

export function saveVectors(picture: Picture, name: readonly string[]): void {
  save(new Blob([svgOf(picture)], { type: "image/svg+xml" }), fileName(name, "svg"));
}

export async function savePixels(picture: Picture, name: readonly string[]): Promise<void> {
  save(await pngOf(svgOf(picture), WIDTH, heightOf(picture)), fileName(name, "png"));
}
