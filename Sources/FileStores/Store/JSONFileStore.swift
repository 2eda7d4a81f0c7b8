public import Foundation
internal import JSONReading
@_spi(Stores) public import ObjectGraph
internal import Platform

/// Stores in JSON files: one document with a list for each entity, or a folder with a file for each entity.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
/// container.persistentStoreDescriptions = [JSONStore.description(at: URL(fileURLWithPath: "/data/library.json"))]
/// ```
public enum JSONStore {
    /// The type of the store.
    public static let type = "OpenCoreData.JSON"
    /// The option for the spelling of values and the layout: a ``FileStoreOptions``. ``description(at:values:layout:)`` sets it.
    public static let optionsKey = "OpenCoreData.JSON.options"

    /// Describes a store, and registers its type.
    ///
    /// - Parameters:
    ///   - url: A document, or a folder.
    ///   - values: The spelling of values; numbers, Booleans and nil are those of JSON.
    ///   - layout: The places of the properties.
    /// - Returns: A description for a container or a coordinator.
    public static func description(
        at url: URL, values: ValueSpelling = ValueSpelling(), layout: FileLayout = FileLayout()
    ) -> NSPersistentStoreDescription {
        register()
        let description = NSPersistentStoreDescription(url: url)
        description.type = type
        var dialect = CSVDialect()
        dialect.values = values
        description.setOption(FileStoreOptions(dialect: dialect, layout: layout), forKey: optionsKey)
        return description
    }

    /// Registers the type, for stores that are added by type. Call it on any thread, any number of times.
    public static func register() { NSPersistentStoreCoordinator.registerStoreClass(JSONFileStore.self, forStoreType: type) }

    /// Returns the records that were left out when a store was opened with ``FileLayout/skipsUnreadableRecords``.
    public static func report(of store: NSPersistentStore) -> FileReport { (store as? RecordStore)?.report ?? FileReport() }
}

/// The store in JSON files.
// Like `RecordStore`, whose lock guards everything.
final class JSONFileStore: RecordStore, @unchecked Sendable {
    override class var storeType: String { JSONStore.type }
    override class var fileExtension: String { "json" }

    override class var optionsKey: String { JSONStore.optionsKey }
    override class var isJSON: Bool { true }

    override var spelling: ValueSpelling {
        var values = givenOptions.dialect.values
        values.trueSpellings = ["true"]
        values.falseSpellings = ["false"]
        return values
    }

    override func prepareFormat() throws { format = JSONFormat(isDocument: place.file != nil) }

    override func namesInFiles(_ layout: FileLayout) throws -> [String: Set<String>] {
        let place = place
        var known: [String: Set<String>] = [:]
        let files = place.file.map { [$0] } ?? Set(entities.map { StorePlan.file(of: $0, layout) }).sorted()
        for name in files {
            let path = place.path(of: name)
            let list = place.file == nil ? name : nil
            if let (text, _) = givenTexts[path] {
                try Self.collectNames(in: text, path, list: list, &known)
            } else {
                try Self.collectNames(at: path, list: list, &known)
            }
        }
        return known
    }

    /// Collects the names of the members in records, by list.
    private static func collectNames(at path: String, list: String?, _ known: inout [String: Set<String>]) throws {
        guard FileStamp(path)?.size ?? 0 > 0 else { return }
        let (memory, count, _) = try StoreFiles.read(path, progress: nil)
        let (text, _): (TextBytes, TextForm)
        do {
            (text, _) = try TextForm.read(memory, count: count, known: nil)
        } catch {
            let (line, column) = error.text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
        try collectNames(in: text, path, list: list, &known)
    }

    private static func collectNames(in text: TextBytes, _ path: String, list: String?, _ known: inout [String: Set<String>]) throws {
        if text.buffer.allSatisfy({ $0 == 0x20 || 0x09...0x0D ~= $0 }) { return }
        do throws(JSONError) {
            var scanner = try JSONScanner(text.buffer)
            if let list {
                known[list] = try names(&scanner)
            } else {
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    if try scanner.peek() == .array { known[name] = try names(&scanner) } else { try scanner.skipValue() }
                }
            }
            try scanner.end()
        } catch {
            let mistake = FileMistake(error)
            throw FileError.make(path, line: error.line, column: error.column, expected: mistake.expected)
        }
    }

    private static func names(_ scanner: inout JSONScanner) throws(JSONError) -> Set<String> {
        var names: Set<String> = []
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard try scanner.peek() == .object else {
                try scanner.skipValue()
                continue
            }
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                names.insert(key.string)
                try scanner.skipValue()
            }
        }
        return names
    }
}
