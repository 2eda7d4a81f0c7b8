internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The records of one file at one time: its text, and the place and key of each record.
// Used under the store's lock, and nothing is called while a property is changed: accesses cannot overlap. Everything but the decoded rows is set before the image is the store's.
final class RecordImage: @unchecked Sendable {
    let plan: FilePlan
    let path: String
    let text: TextBytes
    let form: TextForm
    /// The state of the file when the text was read; nil if there is no file yet.
    var stamp: FileStamp?
    /// The beginnings of the records.
    @exclusivity(unchecked) var starts: [Int] = []
    /// The shapes of the records by index; empty if all have the first one.
    @exclusivity(unchecked) var kinds: [UInt16] = []
    /// The numbers of the records in a file without keys; otherwise empty.
    @exclusivity(unchecked) var numbers: [Int64] = []
    /// The largest of ``numbers``, or of numeric keys.
    var lastNumber: Int64 = 0
    /// Whether all keys are whole numbers, so that a new object gets the next one.
    var hasNumericKeys = true
    @exclusivity(unchecked) var index = KeyIndex(capacity: 0)
    /// The index, if it is known before the records are found; otherwise nil.
    var knownIndex: KeyIndex?
    /// The record after the last one that was looked up: objects are usually requested in the order of the file.
    @exclusivity(unchecked) var expected = 0
    /// Unreadable records, which are treated as missing.
    @exclusivity(unchecked) var skipped: Set<Int> = []
    /// The format's data about the file.
    var structure: (any Sendable)?

    /// The number of changes of each record that the file does not count; empty if there were none.
    @exclusivity(unchecked) var bumps: [Int32] = []
    /// Readers to decode records, to compare keys, and to iterate over all records: each of the three may run while another one does.
    @exclusivity(unchecked) var decoding: (any RecordReader)?
    @exclusivity(unchecked) var finding: (any RecordReader)?
    @exclusivity(unchecked) var walking: (any RecordReader)?

    /// The decoded rows; empty if rows are decoded on demand.
    @exclusivity(unchecked) var rows: [Row?] = []

    init(_ plan: FilePlan, path: String, text: TextBytes, form: TextForm, stamp: FileStamp?) {
        (self.plan, self.path, self.text, self.form, self.stamp) = (plan, path, text, form, stamp)
    }

    var count: Int { starts.count }
    var isKeyless: Bool { !numbers.isEmpty }

    func shapeIndex(_ record: Int) -> Int { kinds.isEmpty ? 0 : Int(kinds[record]) }
    func shape(_ record: Int) -> RecordShape { plan.shapes[shapeIndex(record)] }

    /// Returns the error for a mistake in the text.
    func error(_ mistake: FileMistake) -> NSError {
        let (line, column) = text.place(of: mistake.offset)
        return FileError.make(path, line: line, column: column, expected: mistake.expected)
    }
}

/// The key in an error's user info for the line in the file, counted from 1: an `Int`.
public let FileStoreLineErrorKey = "FileStoreLine"
/// The key in an error's user info for the column in the line, counted from 1: an `Int`.
public let FileStoreColumnErrorKey = "FileStoreColumn"

/// Creates errors that name a place in a file.
enum FileError {
    static func make(_ path: String, line: Int, column: Int, expected: String) -> NSError {
        let name = (path as NSString).lastPathComponent
        return CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "\(name), line \(line), column \(column): expected \(expected).",
            next: "Correct the file, which nothing has changed.",
            info: [NSFilePathErrorKey: path, FileStoreLineErrorKey: line, FileStoreColumnErrorKey: column])
    }
}

/// Reads one record after another.
protocol RecordReader: AnyObject {
    /// Reads a record, whose cells ``cell(_:)`` then returns.
    func open(_ record: Int) throws(FileMistake)
    /// Returns the cell of a name of the plan, by index. Its text is valid until another record is opened.
    func cell(_ name: Int) -> Cell
    /// Returns the place of the cell of a name in the text, or of the record if it lacks the cell.
    func place(_ name: Int) -> Int
}

/// A change of a file's records.
struct RecordChanges {
    /// A record with new values.
    struct Update {
        let record: Int
        /// The values; nil for a record of a join file.
        let row: Row?
        /// The changed properties, by slot index.
        let changed: PropertySet
        let version: Int64
        /// Further texts, by the indexes of their columns' names.
        var texts: [Int: String] = [:]
    }
    /// A new record.
    struct Insertion {
        let shape: Int
        let key: String
        /// The values; nil for a record of a join file.
        let row: Row?
        let version: Int64
        /// Texts of columns that no property writes, by the indexes of their names.
        var texts: [Int: String] = [:]
    }

    /// In the order of the records.
    var updates: [Update] = []
    var insertions: [Insertion] = []
    /// In the order of the records.
    var deletions: [Int] = []
    /// The IDs of new objects with keys that the store has made. The objects must receive these keys.
    var completed: [NSManagedObjectID] = []

    var isEmpty: Bool { updates.isEmpty && insertions.isEmpty && deletions.isEmpty }
}

/// The syntax of a store's files.
protocol RecordFormat: AnyObject, Sendable {
    /// Finds the records of a file and their keys, and validates everything but the values.
    ///
    /// - Parameter skip: Receives the mistakes of records that are left out; nil if each mistake is an error.
    func scan(_ image: RecordImage, progress: Progress?, skip: ((FileMistake) -> Void)?) throws
    func reader(of image: RecordImage) -> any RecordReader
    /// Returns the text of the file with changes applied.
    func text(of image: RecordImage, changed changes: RecordChanges) throws -> [UInt8]
    /// Returns the text of the file for another version of the model.
    func text(of image: RecordImage, migrated change: FormChange) throws -> [UInt8]
    /// Returns the text of a new file without records.
    func emptyText(_ plan: FilePlan) throws -> [UInt8]
    /// The form of a new file.
    var newForm: TextForm { get }
    /// The fixed encoding of the files; nil if it varies.
    var encoding: FileEncoding? { get }
    /// Returns the keys in the cell of a to-many relationship.
    func keys(in cell: Cell) throws(FileMistake) -> [String]
    /// Returns the text of a record, without the text between records.
    func recordText(_ record: Int, of image: RecordImage) -> UnsafeRawBufferPointer
    /// Whether new records are appended after all others.
    var keepsOrder: Bool { get }
    /// Returns whether a file without records has no place for keys.
    func isKeyless(_ image: RecordImage) -> Bool
}

extension RecordFormat {
    /// Adds a record to the index of its image.
    ///
    /// - Throws: ``FileMistake`` for a duplicate key.
    @inline(__always) func add(
        _ start: Int, shape: Int, key: Cell?, at place: Int, to image: RecordImage, comparing reader: any RecordReader
    ) throws(FileMistake) {
        let record = image.starts.count
        let plan = image.plan
        guard let key else {
            image.lastNumber += 1
            image.starts.append(start)
            image.numbers.append(image.lastNumber)
            if plan.shapes.count > 1 { image.kinds.append(UInt16(shape)) }
            return
        }
        if key.isNil || key.text.isEmpty { throw FileMistake(offset: place, expected: "a key in “\(plan.names[plan.keyNames[shape]])”") }
        let root = plan.shapes[shape].root
        if image.knownIndex != nil {
            image.starts.append(start)
            if plan.shapes.count > 1 { image.kinds.append(UInt16(shape)) }
            return
        }
        let hash = RecordKey.hash(key.text)
        if let other = try Self.insert(record, root, key.text, hash, image, reader) {
            let line = image.text.place(of: image.starts[other]).line
            throw FileMistake(
                offset: place, expected: "a key of its own: line \(line) has “\(NumberText.string(key.text))”, too")
        }
        if image.hasNumericKeys, !plan.shapes[shape].isJoin {
            if case .integer(let number) = RecordKey.reference(key.text) {
                image.lastNumber = max(image.lastNumber, number)
            } else {
                image.hasNumericKeys = false
            }
        }
        image.starts.append(start)
        if plan.shapes.count > 1 { image.kinds.append(UInt16(shape)) }
    }

    private static func insert(
        _ record: Int, _ root: NSEntityDescription, _ key: UnsafeRawBufferPointer, _ hash: UInt64, _ image: RecordImage,
        _ reader: any RecordReader
    ) throws(FileMistake) -> Int? {
        do {
            return try image.index.insert(record, hash) { other in
                guard image.shape(other).root === root else { return false }
                try reader.open(other)
                return reader.cell(image.plan.keyNames[image.shapeIndex(other)]).text.elementsEqual(key)
            }
        } catch let mistake as FileMistake {
            throw mistake
        } catch {
            throw FileMistake(offset: 0, expected: "a record that can be read")
        }
    }
}
