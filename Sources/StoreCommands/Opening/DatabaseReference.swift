internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import PostgreSQLStore

/// Opens stores in PostgreSQL databases, and the tables of other programs there, by a URL or another connection string.
struct DatabaseReference {
    /// The connection string for libpq, a URL or keywords with values, with the additional parameter `schema`. It may have a password, so no message
    /// contains it.
    let url: String

    /// Returns whether a place is a connection string of a database.
    static func isDatabase(_ place: String) -> Bool { scheme(place) != nil || keywords(place) != nil }

    /// Returns the scheme of a database URL.
    private static func scheme(_ place: String) -> Range<String.Index>? { place.prefixMatch(of: #/(?i)postgres(?:ql)?(?=:\/\/)/#)?.range }

    /// The keywords of which at least one is in every connection string.
    private static let places: Set = ["host", "hostaddr", "dbname", "user", "password", "service"]

    /// Returns the keywords of a connection string with their values: at least two, unless a file has that name.
    private static func keywords(_ place: String) -> [(name: String, value: String)]? {
        let item = #/\s*(\w+)\s*=\s*('(?:\\.|[^'\\])*'|\S*)\s*/#
        guard place.contains("="), !PlaceText.isAddress(place) else { return nil }
        var (rest, found) = (place[...], [(name: String, value: String)]())
        while let match = rest.prefixMatch(of: item), !match.0.isEmpty {
            found.append((String(match.1), String(match.2)))
            rest = rest[match.range.upperBound...]
        }
        guard rest.isEmpty, found.count > 1, found.contains(where: { places.contains($0.name) }),
            !FileManager.default.fileExists(atPath: place)
        else { return nil }
        return found
    }

    /// Opens the store, or the tables of another program with a model drafted from them.
    ///
    /// - Parameters:
    ///   - model: The model of the store; nil for the one that the store keeps, or a drafted one.
    ///   - modelPath: The place of that model.
    /// - Throws: The mistake in the URL, the database or the model, and the correction.
    func open(_ model: NSManagedObjectModel?, _ modelPath: String?, isWritable: Bool) throws -> OpenStore {
        #if PostgreSQL
        let (url, options) = try parts()
        let found = try BlockingCall.wait(for: "the database") { try await DatabaseInspection(url, options) }
        var storeOptions = options
        storeOptions.layout = found.layout
        guard let chosen = model ?? found.model else {
            throw CommandError.make(
                "The store in the database cannot be opened by itself.", reason: "It keeps no model.",
                next: "Name its model with --model (an .xcdatamodeld, .momd or .mom).")
        }
        let origin: OpenStore.ModelOrigin =
            if let modelPath {
                .file(modelPath)
            } else if found.layout == .own { .store } else { .drafted(Self.note(found.unmapped)) }
        let coordinator = try NSPersistentStoreCoordinator(checking: chosen)
        let description = NSPersistentStoreDescription(postgreSQL: url, options: storeOptions)
        description.isReadOnly = !isWritable
        let store = try coordinator.add(description)
        guard let place = store.url else { throw CommandError.make("The store in the database has no URL.") }
        return OpenStore(.init(url: place, kind: .postgreSQL), origin, coordinator, store, nil, nil)
        #else
        throw Self.missingTrait
        #endif
    }

    /// Copies a store into the database, where the schema gets the tables unless it has an empty store of the same model.
    ///
    /// - Returns: The new store, in the coordinator of the copied one.
    /// - Throws: An error if the schema has objects, and the errors of both stores. A failed copy leaves no object.
    func copy(_ store: OpenStore) throws -> NSPersistentStore {
        #if PostgreSQL
        let (url, options) = try parts()
        let description = NSPersistentStoreDescription(postgreSQL: url, options: options)
        let trial = try NSPersistentStoreCoordinator(checking: store.model)
        let found = try trial.add(description)
        let isEmpty = try trial.isEmpty()
        try trial.remove(found)
        guard isEmpty else {
            throw CommandError.make(
                "The store is not copied to \(found.url?.absoluteString ?? "the database").", reason: "There are objects already.",
                next: "Give another “schema”, or delete them.")
        }
        guard let place = description.url else { throw CommandError.make("The store in the database has no URL.") }
        return try store.coordinator.migratePersistentStore(
            store.store, to: place, options: description.options, withType: description.type)
        #else
        throw Self.missingTrait
        #endif
    }

    #if !PostgreSQL
    private static var missingTrait: NSError {
        CommandError.make(
            "The database cannot be opened.", reason: "The command was built without the trait PostgreSQL.",
            next: "Build it with “Scripts/build-command --postgresql”, which needs the headers of libpq.")
    }
    #endif

    #if PostgreSQL
    private static func note(_ unmapped: [String]) -> String {
        let note = "The schema has no store: this model is drafted from the catalogue of the database."
        return unmapped.isEmpty ? note : "\(note) It leaves out: \(unmapped.joined(separator: "; "))."
    }

    /// Returns the URL without the parameter `schema`, which libpq does not support, and the options that it sets.
    private func parts() throws -> (url: URL, options: PostgreSQLStoreOptions) {
        var options = PostgreSQLStoreOptions()
        var text = url
        if let scheme = Self.scheme(url) { text.replaceSubrange(scheme, with: url[scheme].lowercased()) }
        if let keywords = Self.keywords(url) {
            text = keywords.filter { $0.name != "schema" }.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            if let schema = keywords.last(where: { $0.name == "schema" })?.value { options.schema = Self.unquoted(schema) }
        }
        guard let found = DatabaseInspection.url(text), var components = URLComponents(url: found, resolvingAgainstBaseURL: false) else {
            throw CommandError.make(
                "The database cannot be opened.", reason: "Its URL is none.",
                next: "Write it as postgresql://user@host:port/database?schema=name, with special characters as %XX.")
        }
        let items = components.queryItems ?? []
        if let schema = items.last(where: { $0.name == "schema" })?.value { options.schema = schema }
        let others = (components.percentEncodedQueryItems ?? []).filter { $0.name != "schema" }
        components.percentEncodedQueryItems = others.isEmpty ? nil : others
        guard let rest = components.url else { throw CommandError.make("The database cannot be opened.", reason: "Its URL is none.") }
        return (rest, options)
    }

    /// Returns the value of a keyword without its quotation marks.
    private static func unquoted(_ value: String) -> String {
        guard value.hasPrefix("'"), value.hasSuffix("'"), value.count > 1 else { return value }
        return String(value.dropFirst().dropLast().replacing(#/\\(.)/#) { $0.1 })
    }
    #endif
}

#if PostgreSQL
extension NSPersistentStoreCoordinator {
    fileprivate func add(_ description: NSPersistentStoreDescription) throws -> NSPersistentStore {
        try addPersistentStore(ofType: description.type, configurationName: nil, at: description.url, options: description.options)
    }

    /// Returns whether no entity has objects.
    fileprivate func isEmpty() throws -> Bool {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = self
        return try context.performAndWait {
            try managedObjectModel.entities.filter { $0.superentity == nil }.allSatisfy { entity in
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) == 0
            }
        }
    }
}
#endif
