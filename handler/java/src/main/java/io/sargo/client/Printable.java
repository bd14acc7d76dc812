package io.sargo.client;

/** What is safe to write into a line of a log. */
public final class Printable {
  private Printable() {}

  /**
   * A text on one line: control and format characters are escaped, such as those that begin a line
   * or turn the direction of the text.
   */
  public static String text(Object value) {
    StringBuilder text = new StringBuilder();
    String.valueOf(value)
        .codePoints()
        .forEach(
            point -> {
              switch (Character.getType(point)) {
                case Character.CONTROL:
                case Character.FORMAT:
                case Character.LINE_SEPARATOR:
                case Character.PARAGRAPH_SEPARATOR:
                case Character.SURROGATE:
                case Character.PRIVATE_USE:
                case Character.UNASSIGNED:
                  text.append(String.format("\\u%04x", point));
                  break;
                default:
                  text.appendCodePoint(point);
              }
            });
    return text.toString();
  }
}
