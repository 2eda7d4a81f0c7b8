public import Foundation
@_spi(Stores) public import ObjectGraph

/// Stores in CSV files: a folder with a file for each entity, or one file.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
/// container.persistentStoreDescriptions = [CSVStore.description(at: URL(fileURLWithPath: "/data/library"))]
/// ```
public enum CSVStore {
    /// The type of the store.
    public static let type = "OpenCoreData.CSV"
    /// The option for the dialect and the layout: a ``FileStoreOptions``. ``description(at:dialect:layout:)`` sets it.
    public static let optionsKey = "OpenCoreData.CSV.options"

    /// Describes a store, and registers its type.
    ///
    /// - Parameters:
    ///   - url: A folder, or a file with the records of all entities.
    ///   - dialect: The form of the files.
    ///   - layout: The places of the properties.
    /// - Returns: A description for a container or a coordinator.
    public static func description(
        at url: URL, dialect: CSVDialect = .rfc4180, layout: FileLayout = FileLayout()
    ) -> NSPersistentStoreDescription {
        register()
        let description = NSPersistentStoreDescription(url: url)
        description.type = type
        description.setOption(FileStoreOptions(dialect: dialect, layout: layout), forKey: optionsKey)
        return description
    }

    /// Registers the type, for stores that are added by type. Call it on any thread, any number of times.
    public static func register() { NSPersistentStoreCoordinator.registerStoreClass(CSVFileStore.self, forStoreType: type) }

    /// Returns the records that were left out when a store was opened with ``FileLayout/skipsUnreadableRecords``.
    public static func report(of store: NSPersistentStore) -> FileReport { (store as? RecordStore)?.report ?? FileReport() }
}

/// The dialect and the layout of a file store, as an option of its description. It is immutable.
public final class FileStoreOptions: NSObject, Sendable {
    /// The form of CSV files.
    public let dialect: CSVDialect
    /// The places of the properties.
    public let layout: FileLayout

    /// Creates options.
    public init(dialect: CSVDialect = .rfc4180, layout: FileLayout = FileLayout()) {
        self.dialect = dialect
        self.layout = layout
    }
}

/// The store in CSV files.
// Like `RecordStore`, whose lock guards everything.
final class CSVFileStore: RecordStore, @unchecked Sendable {
    override class var storeType: String { CSVStore.type }
    override class var fileExtension: String { "csv" }

    override class var optionsKey: String { CSVStore.optionsKey }

    override func prepareFormat() throws {
        let given = givenOptions
        if let mistake = given.dialect.mistake {
            throw CoreDataError.make(NSPersistentStoreOpenError, "The dialect cannot be used.", reason: mistake, next: "Correct it.")
        }
        format = CSVFormat(given.dialect, given.layout)
    }

    override func namesInFiles(_ layout: FileLayout) throws -> [String: Set<String>] {
        let place = place
        var known: [String: Set<String>] = [:]
        let names = place.file.map { [$0] } ?? Set(entities.map { StorePlan.file(of: $0, layout) }).sorted()
        for name in names {
            let path = place.path(of: name)
            if let (text, _) = givenTexts[path] {
                known[name] = try? Set(CSVFormat.columns(text, givenOptions.dialect).names)
            } else {
                known[name] = try columns(at: path, givenOptions.dialect).map(Set.init)
            }
        }
        return known
    }

    /// Returns the columns of a file; nil if it is missing or empty. Only the beginning of the file is read.
    private func columns(at path: String, _ dialect: CSVDialect) throws -> [String]? {
        var length = 1 << 16
        while let bytes = try StoreFiles.beginning(of: path, count: length) {
            let isWhole = bytes.count < length
            if let columns = try beginning(bytes, isWhole, path, dialect) { return columns.isEmpty ? nil : columns }
            length *= 16
        }
        return nil
    }

    /// Returns the columns from the beginning of a file; nil if more of it must be read.
    private func beginning(_ bytes: [UInt8], _ isWhole: Bool, _ path: String, _ dialect: CSVDialect) throws -> [String]? {
        // Lines of UTF-16 have even lengths. A character that is cut off is after the first line.
        let count = isWhole ? bytes.count : (bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) & ~1
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(8, count), alignment: 8)
        bytes.withUnsafeBytes { if let base = $0.baseAddress { memory.copyMemory(from: base, byteCount: count) } }
        do {
            let (text, _) = try TextForm.read(memory, count: count, known: dialect.encoding)
            do {
                let (names, end) = try CSVFormat.columns(text, dialect)
                return isWhole || end < text.count && !names.isEmpty ? names : nil
            } catch {
                if !isWhole { return nil }
                let (line, column) = text.place(of: error.offset)
                throw FileError.make(path, line: line, column: column, expected: error.expected)
            }
        } catch let mistake as TextMistake {
            if !isWhole { return nil }
            let (line, column) = mistake.text.place(of: mistake.offset)
            throw FileError.make(path, line: line, column: column, expected: mistake.expected)
        }
    }
}
