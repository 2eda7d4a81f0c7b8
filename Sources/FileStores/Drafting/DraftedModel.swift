public import Foundation
public import ObjectGraph
internal import Platform
internal import PropertyLists

extension NSManagedObjectModel {
    /// Drafts an initial model from CSV files: an entity for each file, an attribute for each column.
    ///
    /// An attribute has the type that all values of its column have. It is text if there are no values, or if a value would not be written back
    /// unchanged: `00601`, `1E10` and twenty digits are text. If the name of a column is not valid for a property, it is under `fileColumn` in the user
    /// info.
    ///
    /// A file without `id` whose columns name other files with `id` (`song_id` or `song` for `song.csv` or `songs.csv`) has pairs. With two such
    /// columns and at most a `position` besides, it is the join file of a many-to-many relationship. With other columns, it is an entity with
    /// relationships, whose key consists of them. Add further relationships yourself.
    ///
    /// - Parameters:
    ///   - url: A file, or a folder of files.
    ///   - dialect: The form of the files.
    /// - Throws: Code 259, with line and column, for a file that is not CSV.
    public convenience init(describingCSV url: URL, dialect: CSVDialect = .rfc4180) throws {
        let place = FilePlace(url, "csv")
        let names =
            place.map { place in
                place.file.map { [$0] } ?? FileCalls.names(in: place.folder).filter { $0.hasSuffix(".csv") && !$0.hasPrefix(".") }.sorted()
            } ?? []
        let folder = place?.folder ?? url.path
        let drafts = try names.map { name in try CSVDraft(folder + "/" + name, dialect) }
        self.init(entities: try DraftedRelationships(drafts).entities())
    }
}

/// Finds the types of the columns of a file.
struct CSVDraft {
    private let path: String
    private let text: TextBytes
    private let dialect: CSVDialect
    /// The names of the columns, and the place of the first record.
    let columns: [String]
    private let start: Int

    init(_ path: String, _ dialect: CSVDialect) throws {
        self.path = path
        self.dialect = dialect
        let (memory, count, _) = try StoreFiles.read(path, progress: nil)
        do {
            (text, _) = try TextForm.read(memory, count: count, known: dialect.encoding)
        } catch {
            let (line, column) = error.text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
        do { (columns, start) = try CSVFormat.columns(text, dialect) } catch {
            let (line, column) = text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
    }

    /// The name of the file without its extension.
    var name: String { ((path as NSString).lastPathComponent as NSString).deletingPathExtension }

    /// Returns whether some columns have values in each record, and whether these are unique.
    func areKeys(_ wanted: [String]) throws -> Bool {
        let places = wanted.compactMap { columns.firstIndex(of: $0) }
        var known: Set<[String]> = []
        var scanner = CSVScanner(text, dialect)
        scanner.next = start
        do throws(FileMistake) {
            while try scanner.nextRecord() {
                let values = places.map { $0 < scanner.fields.count ? scanner.string(scanner.fields[$0]) : "" }
                if values.contains("") || !known.insert(values).inserted { return false }
            }
        } catch {
            let (line, column) = text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
        return true
    }

    /// Returns an entity with the columns as attributes.
    ///
    /// - Parameter left: The columns that are not attributes.
    func entity(without left: Set<String> = []) throws -> NSEntityDescription {
        do {
            var candidates = Array(repeating: ColumnType.all, count: columns.count)
            var isEmpty = Array(repeating: true, count: columns.count)
            var scanner = CSVScanner(text, dialect)
            scanner.next = start
            while try scanner.nextRecord() {
                for (index, field) in scanner.fields.enumerated() where index < columns.count {
                    let value = scanner.string(field)
                    if !field.isQuoted, value == dialect.values.nilSpelling { continue }
                    isEmpty[index] = false
                    candidates[index].removeAll { !$0.fits(value) }
                }
            }
            let file = (path as NSString).lastPathComponent
            let name = (file as NSString).deletingPathExtension
            let entity = NSEntityDescription(name: Self.identifier(name, isEntity: true, besides: []))
            entity.userInfo = ["fileName": file]
            var taken = TakenColumns()
            entity.properties = zip(columns.indices, columns).filter { !left.contains($0.1) }.map { index, column in
                let type = isEmpty[index] ? ColumnType.text : candidates[index].first ?? .text
                let name = taken.take(Self.identifier(column, isEntity: false, besides: []))
                let attribute = NSAttributeDescription(name: name, type: type.attributeType)
                if name != column { attribute.userInfo = ["fileColumn": column] }
                return attribute
            }
            return entity
        } catch {
            let (line, column) = text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
    }

    /// The names of properties that every managed object has.
    private static let reserved: Set = [
        "description", "debugDescription", "hash", "hashValue", "entity", "objectID", "managedObjectContext", "isInserted", "isUpdated",
        "isDeleted", "isFault", "hasChanges", "hasPersistentChangedValues", "superclass", "self", "changedValues", "faultingState",
    ]

    /// Returns a name in a valid form for properties (in lower camel case) or entities.
    static func identifier(_ text: String, isEntity: Bool, besides taken: Set<String>) -> String {
        let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
        let isName = words.count == 1 && words[0].count == text.count
        var name =
            isName
            ? text : words.enumerated().map { $0 == 0 && !isEntity ? $1.lowercased() : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
        if isEntity { name = name.prefix(1).uppercased() + name.dropFirst() }
        if name.isEmpty || name.first?.isNumber == true { name = (isEntity ? "Entity" : "column") + name }
        if !isEntity, name.first?.isUppercase == true { name = name.prefix(1).lowercased() + name.dropFirst() }
        if reserved.contains(name) { name += "Column" }
        var numbered = name
        var number = 2
        while taken.contains(numbered) {
            numbered = name + "\(number)"
            number += 1
        }
        return numbered
    }
}

/// The names of properties that are already assigned to columns.
private struct TakenColumns {
    private var names: Set<String> = []
    /// The last number for each name that several columns share. Thousands of columns of a file may have no name.
    private var numbers: [String: Int] = [:]

    /// Returns a name, with a number if it is already assigned.
    mutating func take(_ name: String) -> String {
        var numbered = name
        while !names.insert(numbered).inserted {
            let number = numbers[name, default: 1] + 1
            numbers[name] = number
            numbered = name + "\(number)"
        }
        return numbered
    }
}

/// The possible types of a column, narrowest first.
private enum ColumnType: CaseIterable {
    case whole, number, boolean, date, uuid, text

    static var all: [ColumnType] { allCases }

    var attributeType: NSAttributeDescription.AttributeType {
        switch self {
        case .whole: .integer64
        case .number: .double
        case .boolean: .boolean
        case .date: .date
        case .uuid: .uuid
        case .text: .string
        }
    }

    /// Returns whether a value is written back unchanged.
    func fits(_ value: String) -> Bool {
        switch self {
        // Bounded: a fraction, of which each has its opposite.
        case .whole: Int64(value).map { String($0) == value && abs(Double($0)) < 1e18 } ?? false
        case .number:
            value.wholeMatch(of: /-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?/) != nil && value.filter(\.isNumber).count <= 15
        case .boolean: ["true", "false", "yes", "no"].contains(value.lowercased())
        case .date:
            value.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?Z?)?/) != nil
                && isDate(value)
        case .uuid: UUID(uuidString: value)?.uuidString == value
        case .text: true
        }
    }

    private func isDate(_ value: String) -> Bool { (try? DateText.seconds(value, .iso8601)) != nil }
}
