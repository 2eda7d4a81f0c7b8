internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The records of one file as it was at one time: its text, where each record is in it, and which key it has.
// Used under the store's lock, and nothing is called while a property is changed: accesses cannot overlap. Everything but the decoded rows is set before the image is the store's.
final class RecordImage: @unchecked Sendable {
    let plan: FilePlan
    let path: String
    let text: TextBytes
    let form: TextForm
    /// The state of the file that the text was read from; nil where there is no file yet.
    var stamp: FileStamp?
    /// Where records begin.
    @exclusivity(unchecked) var starts: [Int] = []
    /// The shapes of the records by index; empty where all have the first.
    @exclusivity(unchecked) var kinds: [UInt16] = []
    /// The numbers of records in a file without keys; empty in another.
    @exclusivity(unchecked) var numbers: [Int64] = []
    /// The largest number of ``numbers``, or of keys that are numbers.
    var lastNumber: Int64 = 0
    /// Whether all keys are whole numbers, so that a new object gets the next.
    var hasNumericKeys = true
    @exclusivity(unchecked) var index = KeyIndex(capacity: 0)
    /// The index, where it is known before the records are found; nil where it is made of them.
    var knownIndex: KeyIndex?
    /// The record behind the one that was looked for last: mostly, objects are asked for in the order of the file.
    @exclusivity(unchecked) var expected = 0
    /// Records that cannot be read, which count as not there.
    @exclusivity(unchecked) var skipped: Set<Int> = []
    /// What the format knows of the file.
    var structure: (any Sendable)?

    /// How many changes each record has had that are not counted in the file; empty where none had any.
    @exclusivity(unchecked) var bumps: [Int32] = []
    /// Read records to decode them, to compare keys, and to walk through all of them: each of the three while another is at work.
    @exclusivity(unchecked) var decoding: (any RecordReader)?
    @exclusivity(unchecked) var finding: (any RecordReader)?
    @exclusivity(unchecked) var walking: (any RecordReader)?

    /// The decoded rows; empty where rows are decoded when they are wanted.
    @exclusivity(unchecked) var rows: [Row?] = []

    init(_ plan: FilePlan, path: String, text: TextBytes, form: TextForm, stamp: FileStamp?) {
        (self.plan, self.path, self.text, self.form, self.stamp) = (plan, path, text, form, stamp)
    }

    var count: Int { starts.count }
    var isKeyless: Bool { !numbers.isEmpty }

    func shapeIndex(_ record: Int) -> Int { kinds.isEmpty ? 0 : Int(kinds[record]) }
    func shape(_ record: Int) -> RecordShape { plan.shapes[shapeIndex(record)] }

    /// Makes an error of a mistake in the text.
    func error(_ mistake: FileMistake) -> NSError {
        let (line, column) = text.place(of: mistake.offset)
        return FileError.make(path, line: line, column: column, expected: mistake.expected)
    }
}

/// The key, in the user info of an error, of the line in the file, from 1: an `Int`.
public let FileStoreLineErrorKey = "FileStoreLine"
/// The key, in the user info of an error, of the column in the line, from 1: an `Int`.
public let FileStoreColumnErrorKey = "FileStoreColumn"

/// Makes errors that name a place in a file.
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
    /// The place of the cell of a name in the text, or of the record where it has none.
    func place(_ name: Int) -> Int
}

/// A change of a file's records.
struct RecordChanges {
    /// A record that gets other values.
    struct Update {
        let record: Int
        /// The values; nil for a record of a join file.
        let row: Row?
        /// The properties that have other values, by slot index.
        let changed: PropertySet
        let version: Int64
        /// What is written under columns besides, by index of their names.
        var texts: [Int: String] = [:]
    }
    /// A new record.
    struct Insertion {
        let shape: Int
        let key: String
        /// The values; nil for a record of a join file.
        let row: Row?
        let version: Int64
        /// What is written under columns that no property writes, by index of their names.
        var texts: [Int: String] = [:]
    }

    /// In the order of the records.
    var updates: [Update] = []
    var insertions: [Insertion] = []
    /// In the order of the records.
    var deletions: [Int] = []
    /// New objects whose key the store has made, and which must learn it.
    var completed: [NSManagedObjectID] = []

    var isEmpty: Bool { updates.isEmpty && insertions.isEmpty && deletions.isEmpty }
}

/// The syntax of a store's files.
protocol RecordFormat: AnyObject, Sendable {
    /// Finds the records of a file and their keys, and checks everything but the values.
    ///
    /// - Parameter skip: Takes the mistakes of records that are left out; nil where each is an error.
    func scan(_ image: RecordImage, progress: Progress?, skip: ((FileMistake) -> Void)?) throws
    func reader(of image: RecordImage) -> any RecordReader
    /// Returns the text of the file with changes.
    func text(of image: RecordImage, changed changes: RecordChanges) throws -> [UInt8]
    /// Returns the text of the file as another version of the model has it.
    func text(of image: RecordImage, migrated change: FormChange) throws -> [UInt8]
    /// Returns the text of a new file without records.
    func emptyText(_ plan: FilePlan) throws -> [UInt8]
    /// The form of a new file.
    var newForm: TextForm { get }
    /// The encoding that files are known to have.
    var encoding: FileEncoding? { get }
    /// Returns the keys in the cell of a to-many relationship.
    func keys(in cell: Cell) throws(FileMistake) -> [String]
    /// Returns the text of a record, without what stands between records.
    func recordText(_ record: Int, of image: RecordImage) -> UnsafeRawBufferPointer
    /// Whether new records come behind all others.
    var keepsOrder: Bool { get }
    /// Whether a file without records has no place for keys.
    func isKeyless(_ image: RecordImage) -> Bool
}

extension RecordFormat {
    /// Adds a record that was found to the index of its image.
    ///
    /// - Throws: ``FileMistake`` for a key that another record has.
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
