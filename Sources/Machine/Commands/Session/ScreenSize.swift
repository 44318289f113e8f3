/// The rectangle that a screen is drawn for.
package struct ScreenSize: Sendable, Equatable {
    package var columns: Int
    /// Nil if the output may be of any length: a pipe, a one-shot print.
    package var rows: Int?

    package init(columns: Int, rows: Int? = nil) { (self.columns, self.rows) = (columns, rows) }
}
