import ExampleSupport
import Foundation
import SampleService

/// Prints the demo: text, tables and the requests to the service, with colours on a terminal.
///
/// The service prints on its own threads, so each piece is written at once.
final class Terminal: Sendable {
    private enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case cyan = "36"
    }

    private let isColoured: Bool
    private let chapters = Locked(0)
    private let output: Locked<FileHandle>

    init(output: FileHandle = .standardOutput) {
        isColoured = isatty(output.fileDescriptor) == 1
        self.output = Locked(output)
    }

    // MARK: Pieces

    func title(_ text: String) {
        write([styled(text, .bold), String(repeating: "═", count: text.count)])
    }

    /// Begins the next chapter.
    func chapter(_ name: String) {
        let number = chapters.withLock { number in
            number += 1
            return number
        }
        write(["", styled("\(number). \(name)", .bold), String(repeating: "─", count: name.count + 3)])
    }

    /// Prints a paragraph.
    func text(_ text: String) {
        write(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// Prints a call of the program as code.
    func code(_ line: String) { write(["", "  " + styled("› \(line)", .cyan)]) }

    /// Prints a row of cells of given widths.
    func row(_ cells: (text: String, width: Int)..., indent: Int = 4) {
        let line = cells.map { $0.text.padded(to: $0.width) }.joined(separator: "  ")
        write([String(repeating: " ", count: indent) + line.trimmingTrailingSpaces])
    }

    /// Prints a request to the service.
    ///
    /// - Parameter path: The path that all of them begin with, which is left out.
    func request(_ request: RecordedRequest, below path: String = "") {
        let isDone = request.status < 300
        let target = request.target.hasPrefix(path) ? request.target.dropFirst(path.count) : request.target[...]
        let status = isDone ? "" : "  (\(request.status))"
        write(["        " + styled("→ \(request.method) \(target)\(status)", isDone ? .dim : .red)])
    }

    /// Prints a result.
    func note(_ text: String) { write(["    " + styled("✓ ", .green) + text]) }

    /// Prints an error, broken into lines.
    func error(_ text: String) {
        let lines = text.wrapped(to: 104)
        write(lines.enumerated().map { "    " + styled($0.offset == 0 ? "✗ " : "  ", .red) + $0.element })
    }

    /// Prints a table, with the first column left-aligned and the numbers right-aligned.
    func table(_ header: [String], _ rows: [[String]]) {
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let columns = cells.enumerated().map { index, cell in
                index == 0 ? cell.padded(to: widths[index]) : cell.padded(to: widths[index], right: true)
            }
            return "  " + columns.joined(separator: "   ")
        }
        write(["", styled(line(header), .bold), "  " + widths.map { String(repeating: "─", count: $0) }.joined(separator: "───")])
        write(rows.map(line))
    }

    // MARK: Writing

    private func write(_ lines: [String]) {
        output.withLock { $0.write(Data((lines.joined(separator: "\n") + "\n").utf8)) }
    }

    private func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// Returns the text padded with spaces.
    fileprivate func padded(to width: Int, right: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - count))
        return right ? spaces + self : self + spaces
    }

    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Returns the text in lines of at most a width, broken between words.
    fileprivate func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
