import CoreData

/// A folder with documents.
final class Folder: NSManagedObject {
    static let nameProperty = ManagedProperty<String>("name")
    static let documentsProperty = ManagedProperty<Set<Document>>("documents")
    var name: String {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var documents: Set<Document> { self[Self.documentsProperty] }
}

/// A document in a folder.
final class Document: NSManagedObject {
    static let nameProperty = ManagedProperty<String>("name")
    static let sizeProperty = ManagedProperty<Int>("size")
    static let folderProperty = ManagedProperty<Folder?>("folder")
    var name: String {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var size: Int {
        get { self[Self.sizeProperty] }
        set { self[Self.sizeProperty] = newValue }
    }
    var folder: Folder? {
        get { self[Self.folderProperty] }
        set { self[Self.folderProperty] = newValue }
    }
}

/// The models of the SQLite rows.
enum StoredModel {
    /// Items without an index.
    static let items = NSManagedObjectModel(entities: [item(isIndexed: false)])
    /// Items with an index on the searched string, folders and documents.
    static let everything: NSManagedObjectModel = {
        let folder = NSEntityDescription(
            name: "Folder", managedObjectClass: Folder.self, properties: [NSAttributeDescription(name: "name", type: .string)])
        let document = NSEntityDescription(
            name: "Document", managedObjectClass: Document.self,
            properties: [NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "size", type: .integer64)])
        let documents = NSRelationshipDescription(name: "documents", destination: document, toMany: true)
        let back = NSRelationshipDescription(name: "folder", destination: folder)
        documents.inverse(to: back)
        folder.properties.append(documents)
        document.properties.append(back)
        return NSManagedObjectModel(entities: [item(isIndexed: true), folder, document])
    }()

    private static func item(isIndexed: Bool) -> NSEntityDescription {
        let numbers = (0..<5).map { NSAttributeDescription(name: "i\($0)", type: .integer64) }
        let texts = (0..<5).map { NSAttributeDescription(name: "t\($0)", type: .string) }
        let entity = NSEntityDescription(name: "Item", managedObjectClass: Item.self, properties: numbers + texts)
        if isIndexed {
            let element = NSFetchIndexElementDescription(property: texts[0], collationType: .binary)
            entity.indexes = [NSFetchIndexDescription(name: "byT0", elements: [element])]
        }
        return entity
    }
}
