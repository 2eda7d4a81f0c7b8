internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A store whose records are in text files, which others may edit.
///
/// The store always agrees with the files: a save writes them, and reads the result. ``CSVFileStore`` and ``JSONFileStore`` define the form of the
/// files.
// `requestLock` guards all state; it is not a `LockedBox`, for it is recursive: a predicate may use the requesting context.
class RecordStore: NSPersistentStore, StoreInterface, RowAccess, ContentsStateProviding, FileStore, CopyableStore, @unchecked Sendable {
    let requestLock = NSRecursiveLock()
    var plan: StorePlan!
    var format: (any RecordFormat)!
    var images: [RecordImage] = []
    /// The files of root entities, by index.
    var fileOfRoot: [ObjectIdentifier: Int] = [:]
    /// The records by those that refer to them, for each relationship in the records; created on demand.
    var inverses: [ObjectIdentifier: InverseIndex] = [:]
    /// The pairs of each join file, in the order of the plan; created on demand.
    var pairs: [PairIndex?] = []
    /// Whether keys contain those of other objects, which must be known first.
    private(set) lazy var hasKeysOfOthers = plan.files.contains { file in
        file.shapes.contains { $0.keyColumns.count > 1 && $0.keyParts.joined().contains { $0.field.relationship != nil } }
    }
    lazy var table = RecordTable(self)
    var uniqueness: UniquenessIndex?
    var changeCount = 0
    /// The last numbers that were given to new objects, by file.
    var givenNumbers: [Int64] = []
    /// The layout of the older version of the model, during a migration of files.
    var former: FormerLayout?
    /// The texts of files after a migration, by path, while it runs.
    var givenTexts: [String: (text: TextBytes, form: TextForm)] = [:]
    /// The names in the records of existing files, by file (in a JSON document, by list).
    private(set) var knownNames: [String: Set<String>] = [:]
    let instance = UUID()
    private let openingReport = LockedBox(FileReport())

    /// The records that were left out when the store was opened.
    var report: FileReport {
        get { openingReport.withLock { $0 } }
        set { openingReport.set(newValue) }
    }

    // MARK: What kinds of files differ in

    /// The type of the store.
    // Bounded: each kind of store overrides it.
    class var storeType: String { stopProgram("A kind of store has a type.") }
    /// The extension of the names of files.
    // Bounded: each kind of store overrides it.
    class var fileExtension: String { stopProgram("A kind of store has an ending of names.") }

    /// The dialect and the layout in the options.
    var givenOptions: FileStoreOptions { options?[Self.optionsKey] as? FileStoreOptions ?? FileStoreOptions() }
    /// The key of the option with them.
    // Bounded: each kind of store overrides it.
    class var optionsKey: String { stopProgram("A kind of store has an option.") }
    /// Creates the format.
    // Bounded: each kind of store overrides it.
    func prepareFormat() throws { stopProgram("A kind of store makes its format.") }
    /// Returns the names in the records of existing files, by file (in a JSON document, by list).
    // Bounded: each kind of store overrides it.
    func namesInFiles(_ layout: FileLayout) throws -> [String: Set<String>] { stopProgram("A kind of store knows names.") }
    /// The spelling of values.
    var spelling: ValueSpelling { givenOptions.dialect.values }
    /// Whether the files are JSON.
    class var isJSON: Bool { false }

    /// Creates the format and the plan from the options and the existing files.
    private func prepare() throws {
        try prepareFormat()
        knownNames = try namesInFiles(former?.withFiles ?? givenOptions.layout)
        plan = try makePlan(knownNames: knownNames)
    }

    func makePlan(knownNames: [String: Set<String>]) throws -> StorePlan {
        let layout = former?.withColumns(knownNames, wholeFile: Self.isJSON ? nil : place.file) ?? givenOptions.layout
        return try StorePlan(
            entities, layout, spelling, isJSON: Self.isJSON, wholeFile: place.file, knownNames: knownNames)
    }

    // MARK: Opening

    override func loadMetadata() throws {
        guard let place = FilePlace(url, Self.fileExtension) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store has no file.", reason: "Its URL is \(url.map { "\($0)" } ?? "missing").",
                next: "Give it the URL of a file or a folder.")
        }
        if !isReadOnly, place.file == nil, FileStamp(place.folder) == nil {
            // The store is the folder. Like a file, it is created if it is missing.
            _ = mkdir(place.folder, 0o777)
        }
        guard FileStamp(place.folder)?.isDirectory == true else {
            throw CoreDataError.make(
                CocoaError.Code.fileNoSuchFile.rawValue, "There is no folder at \(place.folder).", next: "Create it first.",
                info: [NSFilePathErrorKey: place.folder])
        }
        // Readers need no recovery of a save that was not decided: the files have their old content.
        if isReadOnly ? place.replacement.isBetweenStates : place.replacement.needsRecovery {
            if isReadOnly {
                throw CoreDataError.make(
                    NSPersistentStoreOpenError, "The files at \(place.folder) are between two states.",
                    reason: "A program ended while it saved them.", next: "Open them once without NSReadOnlyPersistentStoreOption.")
            }
            try StoreFiles.locking(place.folder) { try place.replacement.recover() }
        }
        if let known = try place.metadata(ofType: Self.storeType) { metadata = known }
    }

    override func open() throws {
        try requestLock.withLock {
            try prepare()
            for (index, file) in plan.files.enumerated() {
                for shape in file.shapes {
                    guard fileOfRoot.updateValue(index, forKey: ObjectIdentifier(shape.root)) ?? index == index else {
                        throw CoreDataError.make(
                            NSPersistentStoreIncompatibleSchemaError, "“\(shape.root)” and its subentities are in several files.",
                            next: "Give all of them one file: they share their keys.")
                    }
                }
            }
            var found = FileReport()
            let total = plan.files.reduce(0) { $0 + Int64(FileStamp(path(of: $1))?.size ?? 0) }
            // A part of the current progress, if there is one.
            let progress = Progress(totalUnitCount: max(1, total * 3))
            images = try plan.files.map { try read($0, progress: progress, report: &found) }
            givenNumbers = images.map(\.lastNumber)
            forgetRelated()
            for join in plan.joins where images[join.file].isKeyless {
                throw JoinPlan.failure(join.relationship, "Records have no keys.", next: "Give each record its key.")
            }
            for index in images.indices { try decodeAll(index, progress: progress, report: &found) }
            progress.completedUnitCount = progress.totalUnitCount
            report = found
        }
    }

    /// The entities of the store, in the order of their names.
    var entities: [NSEntityDescription] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let all = configurationName == Self.defaultConfiguration ? nil : model.entities(forConfigurationName: configurationName)
        return (all ?? model.entities).sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// The place of the files. The URL was checked when the store was opened.
    var place: FilePlace { FilePlace(url, Self.fileExtension).known("an open store has files") }

    func path(of file: FilePlan) -> String { place.path(of: file.name) }

    /// Reads a file, and finds its records. A missing file is treated as empty.
    func read(_ file: FilePlan, progress: Progress?, report: inout FileReport) throws -> RecordImage {
        let path = path(of: file)
        if let (text, form) = givenTexts[path] {
            let image = RecordImage(file, path: path, text: text, form: form, stamp: nil)
            try format.scan(image, progress: nil, skip: plan.layout.skipsUnreadableRecords ? { _ in } : nil)
            return image
        }
        guard FileStamp(path) != nil else {
            if isReadOnly {
                throw CoreDataError.make(
                    CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no file at \(path).",
                    next: "Open the store without NSReadOnlyPersistentStoreOption to create it.", info: [NSFilePathErrorKey: path])
            }
            let image = RecordImage(file, path: path, text: TextBytes(try format.emptyText(file)), form: format.newForm, stamp: nil)
            try format.scan(image, progress: nil, skip: nil)
            return image
        }
        let (memory, count, stamp) = try StoreFiles.read(path, progress: progress)
        let (text, form): (TextBytes, TextForm)
        do {
            (text, form) = try TextForm.read(memory, count: count, known: format.encoding)
        } catch {
            let (line, column) = error.text.place(of: error.offset)
            throw FileError.make(path, line: line, column: column, expected: error.expected)
        }
        // An empty file was created for this store.
        let isBlank = text.buffer.allSatisfy { $0 == 0x20 || 0x09...0x0D ~= $0 }
        if isBlank, FileStamp(place.folder + "/" + place.metadataName) != nil {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The file at \(path) is empty.",
                reason:
                    "The store has saved to it, which leaves no file empty: another program has emptied it, or is writing it at this moment.",
                next: "Try again. If it stays empty, restore it, or remove it to begin anew.", info: [NSFilePathErrorKey: path])
        }
        let image = RecordImage(
            file, path: path, text: isBlank ? TextBytes(try format.emptyText(file)) : text, form: isBlank ? format.newForm : form,
            stamp: stamp)
        var mistakes: [FileMistake] = []
        try format.scan(image, progress: progress, skip: plan.layout.skipsUnreadableRecords ? { mistakes.append($0) } : nil)
        for mistake in mistakes { report.add(mistake, image) }
        return image
    }

    /// Decodes all records of a file to validate them, and keeps the rows if the file is not too large.
    private func decodeAll(_ index: Int, progress: Progress?, report: inout FileReport) throws {
        let image = images[index]
        let keeps = image.text.count <= plan.layout.keepsRowsUpTo
        if keeps { image.rows = [Row?](repeating: nil, count: image.count) }
        for record in 0..<image.count {
            do {
                if image.shape(record).isJoin {
                    try checkPair(record, in: index)
                    continue
                }
                let row = try decodedRow(record, in: index)
                if keeps { image.rows[record] = row }
            } catch let mistake as FileMistake {
                guard plan.layout.skipsUnreadableRecords else { throw image.error(mistake) }
                report.add(mistake, image)
                image.skipped.insert(record)
            }
            if record & 0xFFFF == 0xFFFF {
                progress?.completedUnitCount += Int64(image.starts[record] - image.starts[record - 0xFFFF])
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            }
        }
        if !image.skipped.isEmpty {
            Log.store.warning("\(image.skipped.count) records of \(image.path) cannot be read and are left out.")
        }
    }

    // MARK: Reading

    var hasRowsInMemory: Bool { true }
    var rowsContainLists: Bool { true }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try requestLock.withLock { try RowFetch(table: table, query: query).answer() }
    }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { try requestLock.withLock { try row(with: id) } }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try requestLock.withLock { try ids.compactMap { try row(with: $0) } }
    }

    func knownRow(for id: NSManagedObjectID) -> Row? { requestLock.withLock { try? row(with: id) } }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try requestLock.withLock {
            Dictionary(try ids.map { ($0, try relatedIDs(relationship, of: $0)) }, uniquingKeysWith: { first, _ in first })
        }
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] { try requestLock.withLock { try relatedIDs(relationship, of: id) } }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }

    var contentsState: ContentsState? {
        requestLock.withLock {
            let stamps = images.map { image in
                image.stamp.map { "\($0.inode) \($0.size) \($0.seconds).\($0.nanoseconds)" } ?? "-"
            }
            return ContentsState(
                current: "\(identifier ?? "") \(instance) \(changeCount)", lasting: "\(identifier ?? "") \(stamps.joined(separator: " "))")
        }
    }

    // MARK: Files

    func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }

    func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws {
        try requestLock.withLock { try StoreFiles.locking(place.folder) { try place.copy(to: FilePlace(url, Self.fileExtension)) } }
    }

    static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        guard let place = FilePlace(source, fileExtension) else { throw StoreFiles.notFound(source.path) }
        try StoreFiles.locking(place.folder) { try place.copy(to: FilePlace(destination, fileExtension)) }
    }

    static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws {
        guard let place = FilePlace(url, fileExtension), FileStamp(place.folder) != nil else { return }
        try StoreFiles.locking(place.folder) { try place.removeFiles() }
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard let place = FilePlace(url, fileExtension), let known = try place.metadata(ofType: storeType) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(url.path) has no metadata.",
                reason: "No program has saved to it yet: its files are others'.", next: "Add the store and read its metadata.")
        }
        return known
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        guard let place = FilePlace(url, fileExtension) else { throw StoreFiles.notFound(url.path) }
        try StoreFiles.locking(place.folder) {
            guard let metadata else { return try FileCalls.remove(place.folder + "/" + place.metadataName) }
            try place.replacement.replace([place.metadataFile(metadata)])
        }
    }
}

extension FileReport {
    mutating func add(_ mistake: FileMistake, _ image: RecordImage) {
        let (line, column) = image.text.place(of: mistake.offset)
        entries.append(Entry(path: image.path, line: line, column: column, expected: mistake.expected))
    }
}
