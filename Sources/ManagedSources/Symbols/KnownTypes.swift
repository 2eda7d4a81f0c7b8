#if ManagedAccessors
/// The types outside of a package's sources: those of the standard library, of Foundation without Objective-C, and of Core Data.
enum KnownTypes {
    /// The mangling codes of standard library types.
    static let standardCodes: [String: String] = [
        "Array": "a", "Bool": "b", "Dictionary": "D", "Double": "d", "Float": "f", "Set": "h", "DefaultIndices": "I", "Int": "i",
        "Character": "J", "ClosedRange": "N", "Range": "n", "ObjectIdentifier": "O", "String": "S", "Substring": "s", "UInt": "u",
        "Hashable": "H", "Comparable": "L", "Equatable": "Q", "Encodable": "E", "Decodable": "e",
    ]

    /// Returns the type for a name in sources.
    static func named(_ name: String) -> Nominal? { table[name] }

    /// Other names of known types.
    static let aliases: [String: String] = ["TimeInterval": "Double", "NSRange": "_NSRange", "Float64": "Double", "Float32": "Float"]

    /// The modules in `table`, which may qualify a name.
    static let modules: Set<String> = ["Swift", "Foundation", "FoundationEssentials", "FoundationNetworking", "CoreData", "ObjectGraph"]

    private static let table: [String: Nominal] = {
        var table: [String: Nominal] = [:]
        func add(_ module: String, _ kind: String, _ names: String, parameterCount: Int = 0) {
            for name in names.split(separator: " ").map(String.init) {
                table[name] = Nominal(module: module, components: []).nested(
                    name, kind: kind, extendingModule: nil, parameterCount: parameterCount)
            }
        }
        add("Swift", "V", "Bool Int Int8 Int16 Int32 Int64 UInt UInt8 UInt16 UInt32 UInt64 Double Float Float16 String Substring Character")
        add("Swift", "V", "AnyHashable ObjectIdentifier")
        add("Swift", "V", "Array Set ContiguousArray ArraySlice Range ClosedRange", parameterCount: 1)
        add("Swift", "V", "Dictionary", parameterCount: 2)
        add("Swift", "P", "Hashable Equatable Comparable Encodable Decodable Error Sendable CustomStringConvertible")
        add(
            "FoundationEssentials", "V",
            "Date Data UUID URL Decimal Locale TimeZone Calendar DateComponents DateInterval IndexPath AttributedString URLComponents URLQueryItem"
        )
        add("FoundationEssentials", "C", "JSONEncoder JSONDecoder FileManager ProcessInfo")
        add(
            "Foundation", "V",
            "CharacterSet IndexSet PersonNameComponents Notification CGFloat CGPoint CGSize CGRect _NSRange AffineTransform")
        add("Foundation", "V", "Measurement", parameterCount: 1)
        add(
            "Foundation", "C",
            """
            NSObject NSNumber NSDecimalNumber NSValue NSString NSMutableString NSData NSMutableData NSDate NSUUID NSURL NSError NSNull NSSet \
            NSMutableSet NSCountedSet NSOrderedSet NSMutableOrderedSet NSArray NSMutableArray NSDictionary NSMutableDictionary NSIndexSet \
            NSMutableIndexSet NSIndexPath NSAttributedString NSMutableAttributedString NSLocale NSTimeZone NSCalendar NSDateComponents \
            NSDateInterval NSCharacterSet NSRegularExpression NSPredicate NSCompoundPredicate NSSortDescriptor NSPersonNameComponents \
            NSMeasurement Unit Dimension UnitLength UnitMass UnitDuration UnitTemperature UnitSpeed UnitEnergy UnitArea UnitVolume UnitAngle \
            UnitPower UnitPressure UnitFrequency Bundle Progress Operation OperationQueue Thread Formatter DateFormatter NumberFormatter \
            UserDefaults NSKeyedArchiver NSKeyedUnarchiver NSCoder
            """)
        add("Foundation", "P", "NSCoding NSSecureCoding NSCopying NSMutableCopying NSObjectProtocol")
        add("FoundationNetworking", "V", "URLRequest")
        add("FoundationNetworking", "C", "NSURLRequest URLResponse HTTPURLResponse")
        add("ObjectGraph", "C", "NSManagedObject NSManagedObjectID NSManagedObjectContext NSEntityDescription NSManagedObjectModel")
        return table
    }()
}
#endif
