/** A picture of vectors as one of pixels, twice as many each way as it is wide and high. */

const PIXELS = 2;

export async function pngOf(svg: string, width: number, height: number): Promise<Blob> {
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = PIXELS * width;
  canvas.height = PIXELS * height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error("The browser could not make a picture of the chart."));
      else resolve(blob);
    }, "image/png"),
  );
}
