internal import CoreData

/// An index of the rows of a file by their headers, built in one pass without values.
///
/// It keeps the file open: the indexed bytes stay readable when another program replaces the file.
struct SongIndex {
    let columns: SongColumns
    let writer: CSVWriter
    /// The first bytes: the byte order mark, if any, and the first record.
    let firstLine: Range<Int>
    let stamp: SongFile.Stamp
    let handle: FileHandle
    /// The identifiers in the order of the rows.
    private(set) var order: [UUID] = []
    private(set) var headers: [UUID: SongHeader] = [:]
    /// The inverses of relationships with a column, by object and name.
    private var inverses: [UUID: [String: [UUID]]] = [:]

    /// Reads a file completely.
    ///
    /// - Parameter visit: Called with each row.
    /// - Throws: ``SongFileError`` at the first error in the file.
    init(
        scanning file: SongFile, _ format: SongFileFormat, visit: (CSVRecord, SongHeader, SongColumns) throws -> Void = { _, _, _ in }
    ) throws {
        stamp = try file.stamp()
        handle = try file.open()
        var parser: CSVParser?
        var columns: SongColumns?
        var firstLine = 0..<0
        var order: [UUID] = []
        var headers: [UUID: SongHeader] = [:]
        func take(_ record: CSVRecord) throws {
            guard let columns else {
                columns = try format.columns(record)
                firstLine = 0..<record.range.upperBound
                return
            }
            let header = try format.header(record, columns)
            if let twin = headers.updateValue(header, forKey: header.id) {
                throw SongFileError(
                    .malformed, file.url, at: record.fields[columns.id].position, "Line \(twin.line) has the identifier \(header.id) too.",
                    advice: "Give each row an identifier of its own.")
            }
            order.append(header.id)
            try visit(record, header, columns)
        }
        try file.forEachPiece(of: handle) { piece in
            if parser == nil {
                let hasMark = piece.starts(with: [0xEF, 0xBB, 0xBF])
                parser = CSVParser(url: file.url, offset: hasMark ? 3 : 0)
                try parser!.parse(hasMark ? piece.dropFirst(3) : piece, take)
            } else {
                try parser!.parse(piece, take)
            }
        }
        try parser?.finish(take)
        guard let columns else {
            throw SongFileError(
                .malformed, file.url, at: CSVPosition(line: 1, column: 1), "The file is empty.",
                advice: "Write the names of the columns on its first line, or remove the file to begin a new one.")
        }
        self.columns = columns
        self.firstLine = firstLine
        writer = CSVWriter(usesCarriageReturns: parser?.usesCarriageReturns ?? false)
        self.order = order
        self.headers = headers
        try connect(file, format)
    }

    /// Resolves every reference.
    private mutating func connect(_ file: SongFile, _ format: SongFileFormat) throws {
        for id in order {
            guard let header = headers[id] else { continue }
            for relationship in format.storedRelationships(of: header.entity) {
                for target in header.references[relationship.name] ?? [] {
                    guard let destination = relationship.destinationEntity, headers[target]?.entity.isKindOf(entity: destination) == true
                    else {
                        throw SongFileError(
                            .malformed, file.url, at: CSVPosition(line: header.line, column: 1),
                            "“\(relationship.name)” names \(target), which is no \(relationship.destinationEntity?.name ?? "row") of the file.",
                            advice: "Add that row, or take the identifier out.")
                    }
                    guard let inverse = relationship.inverseRelationship?.name else { continue }
                    inverses[target, default: [:]][inverse, default: []].append(id)
                }
            }
        }
    }

    /// Returns the destinations of a relationship.
    func related(_ name: String, of id: UUID) -> [UUID] { headers[id]?.references[name] ?? inverses[id]?[name] ?? [] }

    /// Parses one row.
    func record(of header: SongHeader, in file: SongFile) throws -> CSVRecord {
        let bytes = try file.read(header.range, from: handle)
        var parser = CSVParser(url: file.url, line: header.line, offset: header.range.lowerBound)
        var found: CSVRecord?
        try parser.parse(bytes) { found = $0 }
        try parser.finish { found = $0 }
        guard let found else {
            throw SongFileError(
                .changedOutside, file.url, at: CSVPosition(line: header.line, column: 1), "The row is gone.",
                advice: "Open the file again; let writers replace it instead of changing it in place.")
        }
        return found
    }

    /// Returns the bytes of the first line or a row. A missing line end at the end of the file is added.
    func line(_ range: Range<Int>, in file: SongFile) throws -> Data {
        let bytes = try file.read(range, from: handle)
        return bytes.last == 10 ? bytes : bytes + writer.lineEnd
    }
}
