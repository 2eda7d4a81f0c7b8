public import Foundation
internal import ObjectGraph

extension CSVDialect {
    /// Determines the dialect of a file from its content: the delimiter, the encoding, the line ending, and whether there is a header.
    ///
    /// A delimiter fits if it divides each of the first two hundred records into the same number of fields, at least two. The first record is a header
    /// if its fields are all different, and none is empty or a number.
    ///
    /// - Parameter url: A file.
    /// - Throws: Code 259 if no delimiter or several delimiters fit, or if the file has neither a byte order mark nor valid UTF-8. In these cases, set
    ///   the dialect yourself.
    public static func detect(in url: URL) throws -> CSVDialect {
        let (memory, count, _) = try StoreFiles.read(url.path, progress: nil)
        let (text, form): (TextBytes, TextForm)
        do {
            (text, form) = try TextForm.read(memory, count: count, known: nil)
        } catch {
            throw undecided(url, "It has no byte order mark, and is not UTF-8: \(error.expected).", next: "Set the encoding of a dialect.")
        }
        var fitting: [CSVDialect] = []
        for delimiter in [",", ";", "\t", "|"] as [Character] {
            var dialect = CSVDialect()
            dialect.delimiter = delimiter
            if let fit = dialect.fitted(to: text) { fitting.append(fit) }
        }
        let names = fitting.map { "“\($0.delimiter == "\t" ? "tab" : String($0.delimiter))”" }.joined(separator: ", ")
        guard fitting.count == 1, var dialect = fitting.first else {
            throw undecided(
                url,
                fitting.isEmpty ? "No delimiter divides all records into the same number of fields." : "These delimiters fit: \(names).",
                next: "Set the delimiter of a dialect.")
        }
        dialect.encoding = form.encoding
        dialect.writesByteOrderMark = form.hasByteOrderMark
        return dialect
    }

    private static func undecided(_ url: URL, _ reason: String, next: String) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The form of \(url.lastPathComponent) cannot be told.", reason: reason,
            next: next,
            info: [NSFilePathErrorKey: url.path])
    }

    /// Returns the dialect completed from a text; nil if the delimiter does not fit the text.
    private func fitted(to text: TextBytes) -> CSVDialect? {
        var scanner = CSVScanner(text, self)
        var dialect = self
        var width = 0
        for number in 0..<200 {
            guard let isThere = try? scanner.nextRecord() else { return nil }
            if !isThere { break }
            if number == 0 {
                width = scanner.fields.count
                dialect.lineEnding = scanner.lineEnding
                let names = scanner.fields.map { scanner.string($0) }
                dialect.hasHeader = Set(names).count == names.count && !names.contains { $0.isEmpty || Double($0) != nil }
            } else if scanner.fields.count != width {
                return nil
            }
        }
        return width > 1 ? dialect : nil
    }
}
