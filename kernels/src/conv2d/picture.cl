// What lies outside of a picture.

#define BORDER_ZERO 0
#define BORDER_NEAREST 1
#define BORDER_MIRROR 2
#define BORDER_WRAP 3

// The position inside of 0 .. end - 1 that stands for position `at`.
int inside(int at, const int end, const int border) {
    if (border == BORDER_NEAREST || end == 1) {
        return clamp(at, 0, end - 1);
    }
    if (border == BORDER_MIRROR) {
        const int period = 2 * (end - 1);
        at = (at < 0 ? -at : at) % period;
        return at < end ? at : period - at;
    }
    at %= end;
    return at < 0 ? at + end : at;
}

// The pixel at (x, y), wherever that is.
float pixel(__global const float* restrict picture, const int width, const int height,
            const int border, const int x, const int y) {
    const bool within = x >= 0 && x < width && y >= 0 && y < height;
    if (border == BORDER_ZERO && !within) {
        return 0.0f;
    }
    const int column = within ? x : inside(x, width, border);
    const int row = within ? y : inside(y, height, border);
    return picture[(size_t)row * width + column];
}
