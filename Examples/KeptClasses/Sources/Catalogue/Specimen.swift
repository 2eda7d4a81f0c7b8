public import CoreData

/// An entity with every attribute type.
public class Specimen: NSManagedObject {
    @NSManaged public var flag: Bool
    @NSManaged public var small: Int16
    @NSManaged public var middle: Int32
    @NSManaged public var large: Int64
    @NSManaged public var number: Int
    @NSManaged public var real: Double
    @NSManaged public var float: Float
    @NSManaged public var text: String
    @NSManaged public var date: Date
    @NSManaged public var data: Data
    @NSManaged public var identifier: UUID
    @NSManaged public var address: URL?
    @NSManaged public var decimal: Decimal
    @NSManaged public var optionalText: String?
    @NSManaged public var optionalDate: Date?
    @NSManaged public var boxedNumber: NSNumber?
    @NSManaged public var boxedDecimal: NSDecimalNumber?
    @NSManaged public var boxedText: NSString?
    @NSManaged public var boxedDate: NSDate?
    @NSManaged public var boxedData: NSData?
    @NSManaged public var boxedIdentifier: NSUUID?
    @NSManaged public var boxedAddress: NSURL?
    @NSManaged public var words: [String]
    @NSManaged public var counts: [String: Int]?
    @NSManaged public var list: NSArray?
    @NSManaged public var table: NSDictionary?
    @NSManaged public var object: NSObject?
    @NSManaged public var anything: Any?
    @NSManaged public var style: Style
    @NSManaged public var matches: [Specimen]
}

/// A structure, stored unchanged.
public struct Style: Equatable, Sendable {
    public var width: Int
    public init(width: Int) { self.width = width }
}
