package instrument

// Attributes are the names of attributes that logs have, too, for a test.
var Attributes = []string{AttributeBackendID, attrMethod, attrTool, attrPrompt, attrStatusCode, attrCapability, attrProtocolVersion}
