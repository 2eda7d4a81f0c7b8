internal import Foundation

/// A table of text whose columns fit the width of the terminal.
package struct TextTable {
    /// A cell.
    package struct Cell: Sendable {
        package let text: String
        package let isNumber: Bool

        /// - Parameter text: The text to show; control characters are escaped.
        package init(_ text: String, isNumber: Bool = false) {
            self.text = DisplayText.line(text)
            self.isNumber = isNumber
        }
    }

    /// The minimum width of a column that is cut.
    private static let narrowest = 3

    private let titles: [String]
    private var rows: [[Cell]] = []
    /// The widths of the columns, once they are fixed.
    private var widths: [Int]?
    private let width: Int?

    /// - Parameters:
    ///   - titles: The titles of the columns.
    ///   - width: The width of the terminal; nil for columns as wide as their content.
    package init(_ titles: [String], width: Int?) {
        self.titles = titles.map(DisplayText.line)
        self.width = width
    }

    package mutating func add(_ row: [Cell]) { rows.append(row) }

    /// The number of pending rows.
    package var count: Int { rows.count }

    /// Writes the pending rows. The first call also writes the titles, and fixes the widths.
    package mutating func write(to output: any Output) throws {
        let isFirst = widths == nil
        let widths = self.widths ?? fit()
        self.widths = widths
        if isFirst {
            try output.line(Self.line(zip(titles, widths).map { Self.padded(DisplayText.cut($0, to: $1), $1, isNumber: false) }))
            try output.line(Self.line(widths.map { String(repeating: "─", count: $0) }))
        }
        for row in rows {
            try output.line(Self.line(zip(row, widths).map { Self.padded(DisplayText.cut($0.text, to: $1), $1, isNumber: $0.isNumber) }))
        }
        rows.removeAll(keepingCapacity: true)
    }

    private static func line(_ cells: [String]) -> String {
        var line = cells.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func padded(_ text: String, _ width: Int, isNumber: Bool) -> String {
        let blanks = String(repeating: " ", count: max(0, width - DisplayText.width(text)))
        return isNumber ? blanks + text : text + blanks
    }

    /// Returns the widths: those of the content, with the excess taken from the widest columns.
    private func fit() -> [Int] {
        var widths = titles.map(DisplayText.width)
        for row in rows {
            for (index, cell) in row.enumerated() where index < widths.count {
                widths[index] = max(widths[index], DisplayText.width(cell.text))
            }
        }
        guard let width else { return widths }
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - width
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.narrowest {
            // Reduces it to the width of the second widest at once.
            let second = widths.filter { $0 < widths[widest] }.max() ?? Self.narrowest
            let step = min(excess, max(1, widths[widest] - max(Self.narrowest, second)))
            widths[widest] -= step
            excess -= step
        }
        return widths
    }
}
