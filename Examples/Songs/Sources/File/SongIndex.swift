internal import CoreData

/// Every row of a file by what it is known by, made in one pass that keeps no values.
///
/// It holds the file open: the bytes that it points to stay readable when another program puts a new file in the old one's place.
struct SongIndex {
    let columns: SongColumns
    let writer: CSVWriter
    /// The first bytes: the byte order mark, if there is one, and the first record.
    let firstLine: Range<Int>
    let stamp: SongFile.Stamp
    let handle: FileHandle
    /// The identifiers in the order of the rows.
    private(set) var order: [UUID] = []
    private(set) var headers: [UUID: SongHeader] = [:]
    /// The relationships without a column, by object and name: the other ends of those with one.
    private var inverses: [UUID: [String: [UUID]]] = [:]

    /// Reads a file from its beginning to its end.
    ///
    /// - Parameter visit: is called with each row.
    /// - Throws: ``SongFileError`` at the first mistake in the file.
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

    /// Finds the other end of every reference.
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

    /// The objects at the other end of a relationship.
    func related(_ name: String, of id: UUID) -> [UUID] { headers[id]?.references[name] ?? inverses[id]?[name] ?? [] }

    /// Reads one row.
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

    /// The first line or a row as it stands in the file. The last line of a file may lack its end; here it has one.
    func line(_ range: Range<Int>, in file: SongFile) throws -> Data {
        let bytes = try file.read(range, from: handle)
        return bytes.last == 10 ? bytes : bytes + writer.lineEnd
    }
}
