// The names of the XML store and the binary store. The stores themselves are in a module above.

/// The type of XML stores, whose file is XML in Core Data's own layout. Apple's framework has it on macOS only.
public let NSXMLStoreType = "XML"

/// The type of binary stores. Their format is this framework's own, because Apple's is not public.
public let NSBinaryStoreType = "Binary"

extension NSPersistentStore.StoreType {
    /// The XML store.
    public static let xml = NSPersistentStore.StoreType(rawValue: NSXMLStoreType)
    /// The binary store.
    public static let binary = NSPersistentStore.StoreType(rawValue: NSBinaryStoreType)
}
